// SPDX-License-Identifier: MIT
// View: an answer as data, before it is text, CSV, JSON or a screen. Tables of cells with units, facts with
// names, notes, and the ledger. It knows nothing of widths, colours or terminals; renderers know nothing of
// samples. Cells point into the profile, the symbol table or View::texts: a view does not outlive the first
// two. Context: viewer.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "viewer/analyze/bands.h"
#include "viewer/analyze/ledger.h"

namespace varve::view {

/// What a number counts; renderers choose the digits.
enum class Unit : uint8_t {
  kText,
  kTime,   // nanoseconds
  kShare,  // 0 to 1
  kCount,
  kNumber,  // a pid, a line, a depth: never grouped, never scaled
  kBytes,
  kFlag,   // 0 or 1
  kRatio,  // a number with digits behind the point, such as a TLP
  kBar,    // a Bar
  kStrip,  // text, one letter for each slice of time
  kMean,   // nanoseconds, each in a unit of its own: means of one column may be of us and of s
};

/// A stacked bar: shares of its full length, one after the other, by analyze::Band. What is missing to 1
/// stays empty.
struct Bar {
  std::array<double, analyze::kBands> parts{};
  bool operator==(const Bar&) const = default;
};

/// Nothing, a whole number in the column's unit, a share or ratio, text, or a bar.
using Cell = std::variant<std::monostate, uint64_t, double, std::string_view, Bar>;

struct Column {
  std::string id;     // in CSV and JSON, part of the interface; empty: only in text
  std::string title;  // in text; empty: only in CSV and JSON
  Unit unit = Unit::kText;
  bool tree = false;  // drawn with the depth of its row
  int narrow = -1;    // index of a column (without id and title) that has the same texts in fewer letters
  int spare = 0;      // where room is short: 1 is left out first, then 2, ...; 0 never
};

enum class RowKind : uint8_t {
  kOrdinary,
  kSpecial,      // time that no code stands for, frames not known
  kRest,         // sum of the rows that a limit cut
  kFilteredOut,  // time that the filter cut
};

struct Row {
  uint32_t depth = 0;  // in trees
  RowKind kind = RowKind::kOrdinary;
  bool hot = false;  // on the path of largest children
};

/// How a table stands in JSON: as an array of objects, as one object (its only row), or as an array of the
/// values of its only column.
enum class TableShape : uint8_t { kRows, kObject, kList };

struct Table {
  std::string id;     // key in JSON
  std::string title;  // above it in text; may be empty
  std::string empty;  // in text instead of a table without rows
  std::vector<Column> columns;
  std::vector<Row> rows;
  std::vector<Cell> cells;    // row after row
  bool narrow_names = false;  // short forms in text of any width
  TableShape json = TableShape::kRows;
  bool only_data = false;  // not in text

  std::span<const Cell> row(size_t index) const {
    return {cells.data() + index * columns.size(), columns.size()};
  }
  /// A row is begun, then its cells are put, in as many parts as there are.
  void begin(Row row);
  void put(std::initializer_list<Cell> values);
  void add(Row row, std::initializer_list<Cell> values);
};

struct Fact {
  std::string id;     // in CSV and JSON; empty: only in text
  std::string label;  // in text; empty: only in CSV and JSON
  Unit unit = Unit::kText;
  Cell value;
  bool one_line = false;  // in text: elided where it is longer
};

struct View {
  std::string name;
  std::vector<Fact> facts;
  std::vector<Table> tables;
  bool csv_is_facts = false;  // else: the first table, and those with the same columns
  std::vector<std::pair<char, std::string_view>> legend;  // letters of strips and what they mean, for text
  std::vector<std::string> notes;
  std::vector<std::string> next;  // commands worth typing now; in text only
  analyze::Ledger ledger;
  analyze::Metric metric = analyze::kCpu;  // what the ledger is of
  std::string filter;                      // in words; empty: none
  bool whole_run = false;                  // there are filters that change nothing of what it shows
  std::deque<std::string> texts;           // what cells point to and nobody else owns

  std::string_view own(std::string text);
};

}  // namespace varve::view
