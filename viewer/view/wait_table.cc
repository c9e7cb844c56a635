// SPDX-License-Identifier: MIT
// See wait_table.h.
// Context: viewer.
#include "viewer/view/wait_table.h"

#include <fmt/format.h>

#include <array>
#include <tuple>

#include "viewer/view/path_words.h"

namespace varve::view {
namespace {

using analyze::Band;
using analyze::WaitSum;

uint64_t size_of(const WaitSum& sum, Sort sort) {
  struct Key {
    Sort sort;
    Band band;
  };
  constexpr Key kBands[] = {{Sort::kIdle, Band::kIdle},
                            {Sort::kPoor, Band::kPoor},
                            {Sort::kOk, Band::kOk},
                            {Sort::kIdeal, Band::kIdeal},
                            {Sort::kOver, Band::kOver}};
  for (const Key& each : kBands)
    if (each.sort == sort) return sum.bands[size_t(each.band)];
  if (sort == Sort::kSamples) return sum.count;
  return sort == Sort::kUsual ? sum.poorly_used_ns() : sum.wait_ns;
}

}  // namespace

bool goes_before(const WaitSum& a, const WaitSum& b, const ShownWaits& shown) {
  const double least = shown.request.min_share * double(shown.whole_ns);
  const auto key = [&](const WaitSum& sum) {
    return std::tuple(double(sum.wait_ns) >= least, size_of(sum, shown.request.sort), sum.wait_ns);
  };
  return key(a) > key(b);
}

Cell longest_cell(const WaitSum& sum) { return sum.longest_ns() > 0 ? Cell(sum.longest_ns()) : Cell(); }

WaitTable::WaitTable(View& view, const ShownWaits& shown, WaitSubject subject)
    : view_(view), shown_(shown), subject_(std::move(subject)), banded_(shown.source.concurrency->known()) {
  table_.id = subject_.id;
  table_.empty = "No wait was recorded.";
  table_.columns = {{"", "Wait", Unit::kTime},
                    {"", "Wait%", Unit::kShare, false, -1, 5},
                    {"", "Count", Unit::kCount, false, -1, 7},
                    {"", "Mean", Unit::kMean, false, -1, 2},
                    {"", "Longest", Unit::kMean, false, -1, 1},
                    {"", banded_ ? "Idle+Poor" : "", Unit::kTime, false, -1, 3},
                    {"", banded_ ? ".Id-Po=Ok#Id!Ov" : "", Unit::kBar, false, -1, 6}};
  const auto append = [&](const std::vector<Column>& columns) {
    const auto first = int(table_.columns.size());
    for (Column column : columns) {
      if (column.narrow >= 0) column.narrow += first;
      table_.columns.push_back(column);
    }
  };
  append(subject_.names);
  append({{"wait_ns", "", Unit::kTime},
          {"wait_count", "", Unit::kCount},
          {"idle_ns", "", Unit::kTime},
          {"poor_ns", "", Unit::kTime},
          {"ok_ns", "", Unit::kTime},
          {"ideal_ns", "", Unit::kTime},
          {"over_ns", "", Unit::kTime}});
  append(subject_.rest);
}

void WaitTable::put_numbers(Row row, const WaitSum& sum, bool counted) {
  const bool any = counted && sum.count > 0;
  Bar bar;
  if (banded_ && counted && row.kind != RowKind::kRest)
    for (size_t band = 0; band < analyze::kBands; ++band)
      bar.parts[band] = share(sum.bands[band], longest_ns_);
  table_.begin(row);
  table_.put({sum.wait_ns, share(sum.wait_ns, shown_.whole_ns), counted ? Cell(sum.count) : Cell(),
              any ? Cell(sum.mean_ns()) : Cell(), longest_cell(sum),
              has_bands(row.kind) ? Cell(sum.poorly_used_ns()) : Cell(), bar});
}

void WaitTable::put_data(RowKind kind, const WaitSum& sum, bool counted) {
  table_.put({sum.wait_ns, counted ? Cell(sum.count) : Cell()});
  for (const uint64_t time : sum.bands) table_.put({has_bands(kind) ? Cell(time) : Cell()});
}

void WaitTable::add(Row row, const WaitSum& sum, std::initializer_list<Cell> names,
                    std::initializer_list<Cell> rest) {
  put_numbers(row, sum, true);
  table_.put(names);
  put_data(row.kind, sum, true);
  table_.put(rest);
}

void WaitTable::add_sum(RowKind kind, std::string_view label, const WaitSum& sum) {
  const bool counted = kind == RowKind::kRest;
  put_numbers({0, kind, false}, sum, counted);
  for (size_t i = 0; i < subject_.names.size(); ++i) {
    const bool text = subject_.names[i].unit == Unit::kText;
    const bool named = i >= subject_.label && i < subject_.label + subject_.labels;
    table_.put({named ? Cell(label) : text ? Cell(std::string_view()) : Cell()});
  }
  put_data(kind, sum, counted);
  for (const Column& column : subject_.rest)
    table_.put({std::string_view(column.id) == "longest_ns" ? longest_cell(sum)
                : column.unit == Unit::kText                ? Cell(std::string_view())
                                                            : Cell()});
}

void WaitTable::add_sums(size_t rows, size_t below) {
  WaitSum sum;
  sum.wait_ns = shown_.others.time_ns;
  sum.bands = shown_.others.bands;
  if (sum.wait_ns > 0) add_sum(RowKind::kSpecial, kOtherWaits, sum);
  sum.wait_ns = shown_.filtered_ns;
  if (sum.wait_ns > 0) add_sum(RowKind::kFilteredOut, kFilteredOut, sum);
  add_facts(rows, below);
}

/// What the column adds up to, and how much of it stands in rows.
void WaitTable::add_facts(size_t rows, size_t below) {
  std::string seen = fmt::format("in {}, by {}", plural(all_.count, "wait", "waits"),
                                 plural(rows, subject_.one, subject_.many));
  if (below > 0) seen += fmt::format(" ({} not shown)", below);
  std::string words = parts_words(shown_.whole_ns, {{seen, all_.wait_ns},
                                                    {std::string(kOtherWaits), shown_.others.time_ns},
                                                    {std::string(kFilteredOut), shown_.filtered_ns}});
  view_.facts.push_back({"", "Wait", Unit::kText, view_.own(std::move(words))});
  view_.facts.push_back({"total_wait_ns", "", Unit::kTime, shown_.whole_ns});
  view_.facts.push_back({"other_waits_ns", "", Unit::kTime, shown_.others.time_ns});
  view_.facts.push_back({"filtered_out_ns", "", Unit::kTime, shown_.filtered_ns});
  view_.facts.push_back({"rows_not_shown", "", Unit::kCount, uint64_t(below)});
}

}  // namespace varve::view
