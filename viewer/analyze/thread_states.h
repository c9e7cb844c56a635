// SPDX-License-Identifier: MIT
// What each thread did with its lifetime: ran, was ready, waited and for what; its quanta and switches. Sums
// of stretches, so running + ready + waiting is the time it was observed. Context: viewer.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "viewer/analyze/stretches.h"
#include "viewer/load/profile.h"

namespace varve::analyze {

struct ThreadStates {
  bool known = false;  // else the thread was not observed
  uint64_t running_ns = 0;
  uint64_t ready_ns = 0;  // Inactive: runnable, not on a processor
  std::array<uint64_t, size_t(WaitKind::kCount)> wait_ns{};
  uint64_t quanta = 0;          // stretches on a processor
  uint64_t same_processor = 0;  // quanta on the processor of the one before, of those that could be compared
  uint64_t compared = 0;
  uint64_t voluntary = 0, involuntary = 0;
  bool switches_known = false;
  std::vector<uint16_t> processors;  // it ran on, by number
  uint64_t clocked_ns = 0;  // CPU time that samples and what else its clock counted account for; settled only

  uint64_t waiting_ns() const;
  /// Share of quanta on the same processor as the one before; 1 where there was but one.
  double affinity() const { return compared == 0 ? 1 : double(same_processor) / double(compared); }
};

/// A row each of Profile::threads, within `range`, as it was observed.
std::vector<ThreadStates> thread_states(const load::Profile& profile, TimeRange range);

/// The same, so that CPU + Inactive + Wait is the lifetime. What a thread did between its last sweep and its
/// end, or in an image of a few milliseconds, no sweep tells. Its own clock does, so where sweeps are the
/// source that is believed, and Wait = lifetime - CPU - Inactive.
std::vector<ThreadStates> settled_states(const load::Profile& profile, TimeRange range);

}  // namespace varve::analyze
