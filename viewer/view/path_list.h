// SPDX-License-Identifier: MIT
// The critical path as lists: its segments one by one, for programs, and for people so few rows that they can
// be read, in which runs of short segments stand as one. Context: viewer.
#pragma once

#include <span>
#include <vector>

#include "viewer/analyze/path_sums.h"
#include "viewer/view/path_words.h"
#include "viewer/view/request.h"

namespace varve::view {

/// Of the path, what a report is about.
struct ShownPath {
  const Source& source;
  const Request& request;
  uint64_t start_ns;                               // of the run
  uint64_t elapsed_ns;                             // of the run
  std::span<const analyze::PathSegment> segments;  // in the time that passes
  std::span<const analyze::PathMove> moves;        // likewise
  uint64_t filtered_out_ns;                        // of the run, beside them
  const analyze::PathLevels& levels;
  const analyze::SegmentPaths& paths;
};

/// A row a segment; only data.
Table segment_table(View& view, const ShownPath& shown);

/// Nobody reads more; millions of rows are for programs, which have the segments.
inline constexpr size_t kMostRuns = 100'000;

/// Consecutive segments that stand in one row.
struct SegmentRun {
  size_t first = 0, end = 0;
};
/// All of them in not more than `limit` runs (0: kMostRuns): those that are long enough stand alone, and
/// others are put together with their neighbours. In no less either, if there are so many and no `least_ns`.
std::vector<SegmentRun> readable_runs(std::span<const analyze::PathSegment> segments, size_t limit,
                                      uint64_t least_ns);
/// Only text.
Table list_table(View& view, const ShownPath& shown);

}  // namespace varve::view
