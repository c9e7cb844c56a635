// SPDX-License-Identifier: MIT
// See timeline_path.h.
// Context: viewer.
#include "viewer/analyze/timeline_path.h"

#include <algorithm>

namespace varve::analyze {
namespace {

constexpr size_t kNoRow = SIZE_MAX;

/// The row that has most of each slice's path; kNoRow where no thread of the timeline has any.
std::vector<size_t> rows_of_path(const load::Profile& profile, const Timeline& line,
                                 const CriticalPath& path) {
  std::vector<size_t> row_of(profile.threads.size(), kNoRow);
  for (size_t i = 0; i < line.threads.size(); ++i) row_of[line.threads[i].index()] = i;
  std::vector<size_t> rows(line.slices, kNoRow);
  std::vector<uint64_t> most(line.slices), times(line.threads.size());
  std::vector<std::pair<size_t, size_t>> touched;  // slices and rows, in the order of the path
  size_t open = kNoRow;
  const auto finish = [&] {
    for (const auto& [slice, row] : touched) {
      if (times[row] > most[slice]) most[slice] = times[row], rows[slice] = row;
      times[row] = 0;
    }
    touched.clear();
  };
  for (const PathSegment& segment : path.segments) {
    const size_t row = segment.thread.valid() ? row_of[segment.thread.index()] : kNoRow;
    if (row == kNoRow) continue;
    for_each_slice(line, segment.range, [&](size_t slice, TimeRange part) {
      if (slice != open) finish();
      open = slice;
      times[row] += part.length();
      touched.emplace_back(slice, row);
    });
  }
  finish();
  return rows;
}

}  // namespace

std::vector<std::string> path_strips(const load::Profile& profile, const Timeline& line,
                                     const CriticalPath& path) {
  std::vector<std::string> strips(line.threads.size(), std::string(line.slices, kOffPath));
  const std::vector<size_t> rows = rows_of_path(profile, line, path);
  size_t before = kNoRow;
  for (size_t slice = 0; slice < rows.size(); ++slice) {
    const size_t row = rows[slice];
    if (row == kNoRow) continue;
    const bool moved = before != kNoRow && before != row;
    strips[row][slice] = !moved ? kOnPath : before < row ? kPathFromAbove : kPathFromBelow;
    before = row;
  }
  return strips;
}

}  // namespace varve::analyze
