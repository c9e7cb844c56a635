// SPDX-License-Identifier: MIT
// See band_columns.h.
// Context: viewer.
#include "viewer/view/band_columns.h"

#include <algorithm>

#include "viewer/view/rows.h"

namespace varve::view {

struct BandColumn {
  const char* title;
  const char* id;
  analyze::Metric metric;
  analyze::Band band;
  int spare;
};

namespace {

constexpr BandColumn kColumns[] = {
    {"Idle", "idle_ns", analyze::kIdleWait, analyze::Band::kIdle, 8},
    {"Poor", "poor_ns", analyze::kPoor, analyze::Band::kPoor, 8},
    {"Ok", "ok_ns", analyze::kOk, analyze::Band::kOk, 1},
    {"Ideal", "ideal_ns", analyze::kIdeal, analyze::Band::kIdeal, 2},
    {"Over", "over_ns", analyze::kOver, analyze::Band::kOver, 1},
};
constexpr int kBarSpare = 7;
/// As wide as a bar, and its legend.
constexpr const char *kBarTitle = "-Po =Ok #Id !Ov", *kWaitBarTitle = ".Id-Po=Ok#Id!Ov";

}  // namespace

/// What runs is never Idle.
std::span<const BandColumn> BandColumns::columns() const {
  return std::span(kColumns).subspan(source_.of_waits ? 0 : 1);
}

void BandColumns::add_text_columns(Table& table) const {
  for (const BandColumn& column : columns())
    table.columns.push_back({"", known() ? column.title : "", Unit::kTime, false, -1, column.spare});
  add_bar_column(table);
}

void BandColumns::add_bar_column(Table& table) const {
  table.columns.push_back({"",
                           !known()           ? ""
                           : source_.of_waits ? kWaitBarTitle
                                              : kBarTitle,
                           Unit::kBar, false, -1, kBarSpare});
}

void BandColumns::add_data_columns(Table& table, std::string_view prefix) const {
  for (const BandColumn& column : columns())
    table.columns.push_back({std::string(prefix) + column.id, "", Unit::kTime});
}

void BandColumns::put_text(Table& table, std::span<const uint64_t> metrics) const {
  put_data(table, metrics);
  put_bar(table, metrics);
}

void BandColumns::put_bar(Table& table, std::span<const uint64_t> metrics) const {
  Bar bar;
  const bool sum = metrics[analyze::kCpu] > longest_ns_ || table.rows.back().kind == RowKind::kRest ||
                   table.rows.back().kind == RowKind::kFilteredOut;
  if (known() && !sum)
    for (const BandColumn& column : columns())
      bar.parts[size_t(column.band)] = share(metrics[column.metric], longest_ns_);
  table.put({bar});
}

void BandColumns::put_data(Table& table, std::span<const uint64_t> metrics) const {
  for (const BandColumn& column : columns()) table.put({known() ? Cell(metrics[column.metric]) : Cell()});
}

void BandColumns::put_no_text(Table& table) const {
  put_no_data(table);
  table.put({Bar()});
}

void BandColumns::put_no_data(Table& table) const {
  for (size_t i = 0; i < columns().size(); ++i) table.put({Cell()});
}

uint64_t largest_cpu(const analyze::MetricTable& metrics) {
  uint64_t most = 1;
  for (size_t i = 0; i < metrics.rows(); ++i) most = std::max(most, metrics.at(i, analyze::kCpu));
  return most;
}

}  // namespace varve::view
