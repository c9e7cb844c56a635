// SPDX-License-Identifier: MIT
// Whether a thread's ticks were held back from it. Context: viewer.
#pragma once

#include "viewer/load/profile.h"

namespace varve::load {

/// True for a sampled thread without a tick whose first one was due within an interval of its own time, and
/// comes with a tick of the scheduler. Kernel work at its start and end, which is in the residual too, has
/// none.
inline bool held_back(const Profile& profile, const Thread& thread) {
  constexpr uint64_t kIntervals = 2, kSchedulerTick = 10'000'000;
  return !thread.seen_only && !thread.no_timer && thread.ticks == 0 &&
         saturating_sub(thread.end_cpu, thread.start_cpu).count >
             kIntervals * profile.session.interval.count + kSchedulerTick;
}

}  // namespace varve::load
