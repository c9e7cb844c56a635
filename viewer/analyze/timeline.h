// SPDX-License-Identifier: MIT
// Timeline: time cut into slices, and for each thread what covered most of each slice.
// Context: viewer.
#pragma once

#include <algorithm>
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

/// Calls use(slice, part) for each slice that `range` touches.
template <typename Use>
void for_each_slice(const Timeline& line, TimeRange range, Use use) {
  range = range.within(line.range);
  if (range.length() == 0) return;
  // Slices are not shorter than this, so the guess is none too early.
  const uint64_t shortest = std::max<uint64_t>(line.range.length() / line.slices, 1);
  size_t slice = std::min(size_t((range.begin - line.range.begin) / shortest), line.slices - 1);
  while (line.begin_of(slice) > range.begin) --slice;
  for (; slice < line.slices && line.begin_of(slice) < range.end; ++slice) {
    const TimeRange part = range.within({line.begin_of(slice), line.begin_of(slice + 1)});
    if (part.length()) use(slice, part);
  }
}

/// Of `threads`, in their order. The strips of levels count all threads of `levels`.
Timeline timeline(const load::Profile& profile, const Levels& levels, TimeRange range, size_t slices,
                  std::vector<ThreadId> threads);

}  // namespace varve::analyze
