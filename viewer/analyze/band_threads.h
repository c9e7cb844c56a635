// SPDX-License-Identifier: MIT
// BandThreads: what every thread did in each band, ran, was ready or waited, so that the parts of any bands
// add up to those of all; and its waits fitted to that. Context: viewer.
#pragma once

#include <array>
#include <vector>

#include "viewer/analyze/concurrency.h"
#include "viewer/analyze/counted_waits.h"

namespace varve::analyze {

/// Thread-seconds: each thread counts for itself.
struct ThreadTime {
  uint64_t running_ns = 0, ready_ns = 0, waiting_ns = 0;
  uint64_t unsampled_ns = 0;  // of the running time: where no agent was

  uint64_t sum() const { return running_ns + ready_ns + waiting_ns; }
  void add(const ThreadTime& other) {
    running_ns += other.running_ns;
    ready_ns += other.ready_ns;
    waiting_ns += other.waiting_ns;
    unsampled_ns += other.unsampled_ns;
  }
};

using ThreadBands = std::array<ThreadTime, kBands>;

/// A row each of Profile::threads, in the moments that the levels tell of. CPU time is by the thread's own
/// clock: what it ran more than was observed is taken from its waits.
std::vector<ThreadBands> thread_bands(const load::Profile& profile, const Concurrency& concurrency);

/// No thread's waits are longer in a band than it waited there by `threads`: what is too much belongs to the
/// other bands, as far as there is room. Then `time_ns` is the time in `chosen`; waits without any are left
/// out. By `threads`, those of a thread add up to no more than it waited in these bands.
std::vector<CountedWait> waits_in_bands(const load::Profile& profile, std::vector<CountedWait> counted,
                                        const std::vector<ThreadBands>& threads, const BandSet& chosen);

}  // namespace varve::analyze
