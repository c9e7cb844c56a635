// SPDX-License-Identifier: MIT
// The columns of bands that every view of CPU time has: in text Poor, Ok, Ideal and Over with a stacked bar,
// in CSV and JSON poor_ns, ok_ns, ideal_ns, over_ns. In text they are there only where run states were
// recorded; for scripts always, and empty where nothing is known. Context: viewer.
#pragma once

#include <cstdint>
#include <span>

#include "viewer/view/request.h"
#include "viewer/view/view.h"

namespace varve::view {

struct BandColumn;

class BandColumns {
 public:
  /// Bars are as long as `longest_ns` says a full one is.
  BandColumns(const Source& source, uint64_t longest_ns) : source_(source), longest_ns_(longest_ns) {}

  /// Appends the columns. Those for text stand left of the names.
  void add_text_columns(Table& table) const;
  void add_data_columns(Table& table, std::string_view prefix = "") const;
  /// Of the columns for text only the bar.
  void add_bar_column(Table& table) const;

  /// Appends their cells to the row begun last. `metrics` is a row of a MetricTable.
  void put_text(Table& table, std::span<const uint64_t> metrics) const;
  void put_data(Table& table, std::span<const uint64_t> metrics) const;
  void put_bar(Table& table, std::span<const uint64_t> metrics) const;
  /// Empty ones, for a sum of rows whose times overlap.
  void put_no_text(Table& table) const;
  void put_no_data(Table& table) const;

 private:
  std::span<const BandColumn> columns() const;
  bool known() const { return source_.concurrency != nullptr && source_.concurrency->banded; }

  const Source& source_;
  uint64_t longest_ns_;
};

/// The largest CPU time of the rows of a table, for the length of bars.
uint64_t largest_cpu(const analyze::MetricTable& metrics);

}  // namespace varve::view
