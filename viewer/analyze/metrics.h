// SPDX-License-Identifier: MIT
// MetricTable: some numbers a row, all of which add up. A metric more is a column more, and no analysis
// changes. Context: viewer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace varve::analyze {

/// Columns in their order; times in nanoseconds. Every table has the first two. Where run states are known
/// the CPU time is there once more, by the band of its moment; what has no band is in none of those. In
/// tables of waits the first column is the Wait, the second the number of waits, and there is an Idle band,
/// too.
enum Metric : size_t {
  kCpu = 0,
  kSamples = 1,
  kMetricCount = 2,
  kPoor = 2,
  kOk = 3,
  kIdeal = 4,
  kOver = 5,
  kBandedMetricCount = 6,
  kIdleWait = 6,
  kWaitMetricCount = 7,
  kWait = 8,  // no column: asks for tables of waits
};

class MetricTable {
 public:
  MetricTable() = default;
  explicit MetricTable(size_t rows, size_t width = kMetricCount) : width_(width), values_(rows * width) {}

  size_t width() const { return width_; }
  size_t rows() const { return width_ == 0 ? 0 : values_.size() / width_; }
  uint64_t at(size_t row, size_t metric) const { return values_[row * width_ + metric]; }
  uint64_t& at(size_t row, size_t metric) { return values_[row * width_ + metric]; }
  std::span<const uint64_t> row(size_t index) const { return {values_.data() + index * width_, width_}; }

  void add(size_t row, std::span<const uint64_t> numbers) {
    uint64_t* mine = values_.data() + row * width_;
    for (size_t k = 0; k < width_; ++k) mine[k] += numbers[k];
  }
  void subtract(size_t row, std::span<const uint64_t> numbers) {
    uint64_t* mine = values_.data() + row * width_;
    for (size_t k = 0; k < width_; ++k) mine[k] -= numbers[k];
  }
  /// The inner loop of every analysis: the usual width is spelled out.
  void add(size_t row, const MetricTable& other, size_t other_row) {
    if (width_ != kMetricCount) return add(row, other.row(other_row));
    uint64_t* mine = values_.data() + row * kMetricCount;
    const uint64_t* numbers = other.values_.data() + other_row * kMetricCount;
    for (size_t k = 0; k < kMetricCount; ++k) mine[k] += numbers[k];
  }

  bool zero(size_t row) const {
    for (const uint64_t number : this->row(row)) {
      if (number != 0) return false;
    }
    return true;
  }

  void reserve(size_t rows) { values_.reserve(rows * width_); }
  /// Appends one row of zeros and returns its index.
  size_t append() {
    values_.resize(values_.size() + width_);
    return rows() - 1;
  }

  std::vector<uint64_t> sum() const {
    std::vector<uint64_t> total(width_);
    for (size_t i = 0; i < values_.size(); ++i) total[i % width_] += values_[i];
    return total;
  }

 private:
  size_t width_ = kMetricCount;
  std::vector<uint64_t> values_;
};

}  // namespace varve::analyze
