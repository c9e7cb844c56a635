// SPDX-License-Identifier: MIT
// BandThreads: what every thread did in each band, ran, was ready or waited, so that the parts of any bands
// add up to those of all. Context: viewer.
#pragma once

#include <array>
#include <vector>

#include "viewer/analyze/concurrency.h"

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

}  // namespace varve::analyze
