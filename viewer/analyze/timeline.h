// SPDX-License-Identifier: MIT
// Timeline: time cut into slices, and for each thread what covered most of each slice.
// Context: viewer.
#pragma once

#include <cstdint>
#include <vector>

#include "viewer/analyze/levels.h"
#include "viewer/load/profile.h"

namespace varve::analyze {

/// What a thread did in most of a slice: running, ready, or blocked on something.
struct SliceState {
  RunState state = RunState::kExited;  // kExited: it did not live then
  WaitKind wait = WaitKind::kOther;    // where blocked
  bool operator==(const SliceState&) const = default;
};

struct Timeline {
  TimeRange range;
  size_t slices = 0;
  std::vector<ThreadId> threads;
  std::vector<SliceState> states;  // a row of `slices` a thread
  std::vector<double> running;     // mean threads running, by slice
  std::vector<double> active;      // mean threads running or ready

  /// The begin of a slice, in ns of CLOCK_MONOTONIC; slice `slices` is the end.
  uint64_t begin_of(size_t slice) const;
};

/// Of `threads`, in their order. The strips of levels count all threads of `levels`.
Timeline timeline(const load::Profile& profile, const Levels& levels, TimeRange range, size_t slices,
                  std::vector<ThreadId> threads);

}  // namespace varve::analyze
