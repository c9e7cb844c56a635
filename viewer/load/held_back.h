// SPDX-License-Identifier: MIT
// Whether a thread's ticks were held back from it. Context: viewer.
#pragma once

#include "viewer/load/profile.h"

namespace varve::load {

/// CPU time that may pass before a tick which is due within an interval and comes with one of the scheduler.
/// Kernel work at a thread's start and end has none.
inline Nanos longest_between_ticks(const Profile& profile, uint32_t interval_doublings) {
  constexpr uint64_t kIntervals = 2, kSchedulerTick = 10'000'000, kMost = INT64_MAX / (2 * kIntervals);
  const uint64_t interval = std::min(profile.session.interval.count, kMost >> interval_doublings);
  return {kIntervals * (interval << interval_doublings) + kSchedulerTick};
}

/// True for a sampled thread whose first tick should have come, and did not.
inline bool held_back(const Profile& profile, const Thread& thread) {
  return !thread.seen_only && !thread.no_timer && thread.ticks == 0 &&
         saturating_sub(thread.end_cpu, thread.start_cpu) > longest_between_ticks(profile, 0);
}

}  // namespace varve::load
