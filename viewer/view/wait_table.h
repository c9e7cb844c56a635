// SPDX-License-Identifier: MIT
// WaitTable: lists of waits, each row a WaitSum with what it is about: an object, a function, a thread, a
// call path. All have the same numbers, the same order and the same sums at their end, so they add up to the
// same time. Context: viewer.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "viewer/analyze/fitted_waits.h"
#include "viewer/analyze/wait_sums.h"
#include "viewer/view/cut_kinds.h"
#include "viewer/view/request.h"
#include "viewer/view/rows.h"

namespace varve::view {

/// The waits that a report is about, and what rows of them are shares of.
struct ShownWaits {
  const Source& source;
  const Request& request;
  const std::vector<analyze::CountedWait>& passing;
  uint64_t whole_ns = 0;       // of Wait: all that follow and the waits that pass
  analyze::OtherWaits others;  // that pass
  uint64_t filtered_ns = 0;    // out
};

/// What the sum of a row is about: columns left and right of the numbers that scripts get. The last one is
/// for text, too.
struct WaitSubject {
  const char* id;              // of the table
  std::string_view one, many;  // "object", "objects"
  std::vector<Column> names;   // behind the numbers of text
  std::vector<Column> rest;    // behind the numbers of data
  size_t label, labels;        // indices in `names` of those that sums of rows have words in
};

/// Wait time first that left processors idle, or as the request asks.
bool goes_before(const analyze::WaitSum& a, const analyze::WaitSum& b, const ShownWaits& shown);

/// Empty where WaitSum::longest_ns is not known.
Cell longest_cell(const analyze::WaitSum& sum);

class WaitTable {
 public:
  WaitTable(View& view, const ShownWaits& shown, WaitSubject subject);

  /// Sorts `sums` (of WaitSum or what has one as its base), and adds those that the request asks for by
  /// add_row(sum), which calls add() once; then the sums of the others, by kind_of(sum), see cut_kinds().
  /// Returns how many have a row.
  template <typename Sums, typename AddRow, typename KindOf>
  size_t fill(Sums& sums, const AddRow& add_row, const KindOf& kind_of) {
    std::stable_sort(sums.begin(), sums.end(),
                     [&](const auto& a, const auto& b) { return goes_before(a, b, shown_); });
    std::vector<uint64_t> sizes;
    for (const analyze::WaitSum& sum : sums) {
      sizes.push_back(sum.wait_ns);
      longest_ns_ = std::max(longest_ns_, sum.wait_ns);
      all_.add(sum);
    }
    const Cut cut = cut_list(sizes, shown_.whole_ns, shown_.request);
    for (size_t i = 0; i < cut.kept; ++i) add_row(sums[i]);
    for (const CutKind& kind : cut_kinds(cut, sizes, shown_.whole_ns, shown_.request, subject_.one,
                                         subject_.many, [&](size_t i) { return kind_of(sums[i]); })) {
      analyze::WaitSum others;
      for (const size_t i : kind.rows) others.add(sums[i]);
      add_sum(RowKind::kRest, view_.own(kind.label), others);
    }
    add_sums(sizes.size(), cut.below);
    return cut.kept;
  }
  template <typename Sums, typename AddRow>
  size_t fill(Sums& sums, const AddRow& add_row) {
    return fill(sums, add_row, [](const auto&) { return std::string_view(); });
  }
  void add(Row row, const analyze::WaitSum& sum, std::initializer_list<Cell> names,
           std::initializer_list<Cell> rest);

  Table table() && { return std::move(table_); }

 private:
  /// `counted`: else nobody knows how many waits it is the sum of.
  void put_numbers(Row row, const analyze::WaitSum& sum, bool counted);
  void put_data(RowKind kind, const analyze::WaitSum& sum, bool counted);
  bool has_bands(RowKind kind) const { return banded_ && kind != RowKind::kFilteredOut; }
  void add_sums(size_t rows, size_t below);
  void add_sum(RowKind kind, std::string_view label, const analyze::WaitSum& sum);
  void add_facts(size_t rows, size_t below);

  View& view_;
  const ShownWaits& shown_;
  const WaitSubject subject_;
  const bool banded_;
  uint64_t longest_ns_ = 1;  // of the rows: a full bar
  analyze::WaitSum all_;
  Table table_;
};

}  // namespace varve::view
