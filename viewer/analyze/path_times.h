// SPDX-License-Identifier: MIT
// PathTimes: numbers for those paths that have any of their own. Most paths are on the way to a sample and
// have none, so this is a fraction of a row for each. Context: viewer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "viewer/analyze/metrics.h"

namespace varve::analyze {

class PathTimes {
 public:
  PathTimes() = default;
  /// `most`: so many rows will be added at the most. What is reserved and not used is no memory, and growing
  /// by moving would cost more than all else.
  explicit PathTimes(size_t paths, size_t width = kMetricCount, size_t most = 0)
      : row_of_(paths), rows_(1, width) {
    rows_.reserve(std::min(paths, most) + 1);
  }

  size_t width() const { return rows_.width(); }
  size_t paths() const { return row_of_.size(); }
  /// Zeros for a path without any.
  std::span<const uint64_t> row(size_t path) const { return rows_.row(row_of_[path]); }
  bool zero(size_t path) const { return row_of_[path] == 0 || rows_.zero(row_of_[path]); }

  void add(size_t path, std::span<const uint64_t> numbers) {
    uint32_t& row = row_of_[path];
    if (row == 0) row = uint32_t(rows_.append());
    rows_.add(row, numbers);
  }

  std::vector<uint64_t> sum() const { return rows_.sum(); }

 private:
  std::vector<uint32_t> row_of_;  // by path; 0: none
  MetricTable rows_;              // row 0 stays zero
};

}  // namespace varve::analyze
