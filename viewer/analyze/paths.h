// SPDX-License-Identifier: MIT
// What the analyses need of the tree of call paths beside its rows.
// Context: viewer.
#pragma once

#include <cstdint>
#include <vector>

#include "viewer/analyze/metrics.h"
#include "viewer/analyze/path_times.h"
#include "viewer/load/profile.h"

namespace varve::analyze {

/// A row a path: the time of its subtree.
MetricTable inclusive_times(const std::vector<load::Path>& paths, const PathTimes& by_path);

/// Children of every path as linked lists in two arrays, 8 bytes a path.
class PathChildren {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit PathChildren(const std::vector<load::Path>& paths);

  uint32_t first(uint32_t path) const { return first_[path]; }
  uint32_t next(uint32_t sibling) const { return next_[sibling]; }

 private:
  std::vector<uint32_t> first_, next_;
};

}  // namespace varve::analyze
