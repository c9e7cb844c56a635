// SPDX-License-Identifier: MIT
// CountedWaits: how long each wait kept its thread from running. A hook's own clock counts the way into a
// wait and out of it too; where run states are known, only the time that the observer saw the thread blocked
// counts, so that waits by object and [other waits] are the thread's Wait. Context: viewer.
#pragma once

#include <cstdint>
#include <vector>

#include "viewer/analyze/band_times.h"
#include "viewer/analyze/filter.h"
#include "viewer/load/profile.h"

namespace varve::analyze {

struct Concurrency;

struct CountedWait {
  uint32_t row = 0;          // of Waits::waits
  uint64_t time_ns = 0;      // blocked
  uint64_t count = 0;        // waits that ended in the range
  BandTimes::Times bands{};  // of time_ns; all 0 where nothing was observed
};

/// Of the waits within `range` that have any time or end in it, in their order.
std::vector<CountedWait> counted_waits(const load::Profile& profile, TimeRange range,
                                       const Concurrency& concurrency);

/// ns of Wait that no hook saw, by thread: what the thread waited in `range` and is in none of its waits
/// `counted` there; 0 for threads that nobody observed.
std::vector<uint64_t> unseen_waits(const load::Profile& profile, TimeRange range,
                                   const std::vector<CountedWait>& counted);

}  // namespace varve::analyze
