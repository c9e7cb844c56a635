// SPDX-License-Identifier: MIT
// PathTimes: numbers for those paths that have any of their own. Most paths are on the way to a sample and
// have none, so there is a row for the others only. Context: viewer.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "viewer/analyze/metrics.h"
#include "viewer/analyze/path_set.h"

namespace varve::analyze {

class PathTimes {
 public:
  PathTimes() = default;
  /// `with`: closed; only its members can get numbers.
  explicit PathTimes(PathSet with, size_t width = kMetricCount)
      : with_(std::move(with)), rows_(with_.size() + 1, width) {}

  size_t width() const { return rows_.width(); }
  const PathSet& with() const { return with_; }
  /// Zeros for a path without any.
  std::span<const uint64_t> row(size_t path) const {
    return rows_.row(with_.contains(path) ? with_.rank(path) : with_.size());
  }

  void add(size_t path, std::span<const uint64_t> numbers) { rows_.add(with_.rank(path), numbers); }

  /// Calls use(path, numbers) for each path with numbers, in their order.
  template <typename Use>
  void for_each(Use&& use) const {
    for_each(0, with_.paths(), use);
  }
  /// Likewise in [first, end), bounds of parts of with().
  template <typename Use>
  void for_each(size_t first, size_t end, Use&& use) const {
    with_.for_each(first, end, [&](uint32_t path, uint32_t row) {
      if (!rows_.zero(row)) use(path, rows_.row(row));
    });
  }

  std::vector<uint64_t> sum() const { return rows_.sum(); }

 private:
  PathSet with_;
  MetricTable rows_;  // a row each of `with_`, then one that stays zero
};

}  // namespace varve::analyze
