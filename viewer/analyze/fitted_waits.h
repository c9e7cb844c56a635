// SPDX-License-Identifier: MIT
// FittedWaits: the waits of a run, in no band longer than their threads waited there, and what no hook saw.
// What every view of waits shows, so that an object has the same bands in all. Context: viewer.
#pragma once

#include <vector>

#include "viewer/analyze/band_threads.h"
#include "viewer/analyze/counted_waits.h"

namespace varve::analyze {

/// The waits that no hook saw of one thread.
struct OtherWaits {
  uint64_t time_ns = 0;
  BandTimes::Times bands{};  // of it; all 0 where nothing was observed

  void add(const OtherWaits& other) {
    time_ns += other.time_ns;
    for (size_t band = 0; band < kBands; ++band) bands[band] += other.bands[band];
  }
};

struct FittedWaits {
  std::vector<CountedWait> counted;
  std::vector<OtherWaits> others;  // a row each of Profile::threads
};

/// The bands of a wait are by its moments, which are known to a microsecond or two; those of a thread by its
/// own clock, too. So what is too much in one band belongs to the others, as far as there is room. Waits of
/// threads that `by_band`, of thread_bands(), has nothing of have no bands: nobody saw these threads, or they
/// are of processes that do not pass.
FittedWaits fitted_waits(const load::Profile& profile, TimeRange range, const Concurrency& concurrency,
                         const std::vector<ThreadBands>& by_band);
FittedWaits fitted_waits(const load::Profile& profile, TimeRange range, const Concurrency& concurrency);

}  // namespace varve::analyze
