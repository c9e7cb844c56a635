// SPDX-License-Identifier: MIT
// BandMoments: the moments of a run whose level is in some bands, Idle and Poor as a rule, and what every
// thread did in them: ran, was ready, or waited, and for what, and who ended that. The time that threads were
// there in these moments is the sum of what they did. Context: viewer.
#pragma once

#include <algorithm>
#include <vector>

#include "viewer/analyze/concurrency.h"
#include "viewer/analyze/wait_objects.h"

namespace varve::analyze {

/// Thread-seconds: each thread counts for itself.
struct ThreadTime {
  uint64_t running_ns = 0, ready_ns = 0, waiting_ns = 0;
  uint64_t unsampled_ns = 0;  // of the running time: where no agent was

  uint64_t sum() const { return running_ns + ready_ns + waiting_ns; }
};

/// Threads active at the least and at the most; `most` below `least`: never.
struct LevelSpan {
  uint64_t least = UINT64_MAX, most = 0;

  bool any() const { return least <= most; }
  void add(uint64_t level) { least = std::min(least, level), most = std::max(most, level); }
};

struct BandMoments {
  BandSet bands{};
  // Elapsed time: each moment counts once.
  uint64_t elapsed_ns = 0;                 // that was observed
  std::array<uint64_t, kBands> by_band{};  // of it
  std::array<LevelSpan, kBands> active{};  // that there were in each band
  // Thread time in the moments of the bands, of the threads of processes that pass.
  ThreadTime kept;                  // of threads that pass
  uint64_t filtered_ns = 0;         // of others, and for what does not pass
  std::vector<WaitObject> objects;  // the waits of kept.waiting_ns that hooks saw, the largest first
  uint64_t other_waits_ns = 0;      // and the rest of it

  /// Elapsed time in the bands, and the levels that there were in it.
  uint64_t chosen_ns() const;
  LevelSpan chosen_active() const;
  /// What all parts add up to: thread time in the bands.
  uint64_t thread_ns() const { return kept.sum() + filtered_ns; }
};

/// Nothing where run states are not known. Waits are fitted to what the observer saw of their threads in
/// these moments. What the filter's module or function takes out of the waits is filtered_ns; of the running
/// time it takes nothing, for that is of moments, not of samples.
BandMoments band_moments(const load::Profile& profile, const symbol::SymbolTable& symbols,
                         const Filter& filter, const Concurrency& concurrency, const BandSet& bands);

}  // namespace varve::analyze
