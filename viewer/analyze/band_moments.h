// SPDX-License-Identifier: MIT
// BandMoments: the moments of a run whose level is in some bands, Idle and Poor as a rule, and what every
// thread did in them: ran, was ready, or waited, and for what, and who ended that. The time that threads were
// there in these moments is the sum of what they did. Context: viewer.
#pragma once

#include <algorithm>
#include <vector>

#include "viewer/analyze/band_threads.h"
#include "viewer/analyze/concurrency.h"
#include "viewer/analyze/wait_objects.h"

namespace varve::analyze {

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
  ThreadBands ran{};                // what kept has of CPU time, by band
  uint64_t filtered_ns = 0;         // of others, and for what does not pass
  std::vector<WaitObject> objects;  // the waits of kept.waiting_ns that hooks saw, the largest first
  uint64_t other_waits_ns = 0;      // and the rest of it

  /// Elapsed time in the bands, and the levels that there were in it.
  uint64_t chosen_ns() const;
  LevelSpan chosen_active() const;
  /// What all parts add up to: thread time in the bands.
  uint64_t thread_ns() const { return kept.sum() + filtered_ns; }
};

/// Nothing where run states are not known. The parts of two sets of bands add up to those of both; objects
/// have what they have there, but the numbers of waits and threads, which may have time in several. What the
/// filter's module or function takes out of the waits, and all time ready then, which is of no function, is
/// filtered_ns; of the running time it takes nothing, for that is of moments, not of samples.
BandMoments band_moments(const load::Profile& profile, const symbol::SymbolTable& symbols,
                         const Filter& filter, const Concurrency& concurrency, const BandSet& bands);

}  // namespace varve::analyze
