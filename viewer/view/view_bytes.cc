// SPDX-License-Identifier: MIT
// Each type once, with a Bytes that writes or reads: what is written and what is read cannot differ.
// Context: viewer.
#include "viewer/view/view_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/bytes.h"

namespace varve::view {
namespace {

class Writing {
 public:
  static constexpr bool kReads = false;
  void number(uint64_t value) {
    uint8_t digits[10];
    bytes.insert(bytes.end(), digits, put_varint(digits, value));
  }
  void real(double value) {
    const auto* raw = reinterpret_cast<const uint8_t*>(&value);
    bytes.insert(bytes.end(), raw, raw + sizeof value);
  }
  void text(std::string_view value) {
    number(value.size());
    bytes.insert(bytes.end(), value.begin(), value.end());
  }
  std::vector<uint8_t> bytes;
};

class Reading {
 public:
  static constexpr bool kReads = true;
  explicit Reading(std::span<const uint8_t> input) : bytes(input) {}
  void number(uint64_t& value) { value = bytes.read_varint(); }
  void real(double& value) {
    value = bytes.read<double>();
    if (!std::isfinite(value)) throw ParseError("has a number that is none");
  }
  void text(std::string_view& value) {
    const auto taken = bytes.take(size_t(bytes.read_varint())).rest();
    value = {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  ByteView bytes;
};

void require(bool holds) {
  if (!holds) throw ParseError("has a view that makes no sense");
}

template <typename T>
constexpr size_t number_of_values();
template <>
constexpr size_t number_of_values<Unit>() {
  return size_t(Unit::kMean) + 1;
}
template <>
constexpr size_t number_of_values<RowKind>() {
  return size_t(RowKind::kFilteredOut) + 1;
}
template <>
constexpr size_t number_of_values<TableShape>() {
  return size_t(TableShape::kList) + 1;
}
template <>
constexpr size_t number_of_values<bool>() {
  return 2;
}

/// One of the values of an enumeration, or a bool.
template <typename Pass, typename Value>
void pass_choice(Pass& pass, Value& value) {
  uint64_t raw = uint64_t(value);
  pass.number(raw);
  require(raw < number_of_values<Value>());
  value = Value(raw);
}

template <typename Pass>
void pass_int(Pass& pass, int& value) {
  uint64_t raw = zigzag(value);
  pass.number(raw);
  value = int(unzigzag(raw));
}

template <typename Pass>
void pass_string(Pass& pass, std::string& value) {
  std::string_view view = value;
  pass.text(view);
  if constexpr (Pass::kReads) value = view;
}

/// What scripts know a thing by: printed as it is, as a name in JSON and CSV.
template <typename Pass>
void pass_id(Pass& pass, std::string& id) {
  pass_string(pass, id);
  require(id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string::npos);
}

/// A heading, of varve's own words: ASCII, and nothing that acts on a terminal.
template <typename Pass>
void pass_heading(Pass& pass, std::string& heading) {
  pass_string(pass, heading);
  require(std::ranges::all_of(heading, [](char c) { return c >= ' ' && c <= '~'; }));
}

/// Rows take at least a byte each.
template <typename Pass, typename Row, typename PassRow>
void pass_rows(Pass& pass, std::vector<Row>& rows, PassRow pass_row) {
  uint64_t count = rows.size();
  pass.number(count);
  if constexpr (Pass::kReads) {
    require(count <= pass.bytes.size());
    rows.resize(count);
  }
  for (Row& row : rows) pass_row(row);
}

/// Whether a cell of this type, an index into Cell, is one that a unit can have beside nothing.
bool can_have(Unit unit, uint64_t type) {
  switch (unit) {
    case Unit::kText:
    case Unit::kStrip:
      return type == 3;
    case Unit::kShare:
    case Unit::kRatio:
      return type == 2;
    case Unit::kBar:
      return type == 4;
    case Unit::kNumber:
      return type == 1 || type == 2;  // a target may be half a processor
    default:
      return type == 1;
  }
}

/// An empty cell of the type.
Cell cell_of_type(uint64_t type) {
  static const Cell kCells[] = {std::monostate(), uint64_t{0}, 0.0, std::string_view(), Bar{}};
  return kCells[type];
}

template <typename Pass>
void pass_cell(Pass& pass, Cell& cell, Unit unit) {
  uint64_t type = cell.index();
  pass.number(type);
  if (type == 0) return;
  require(can_have(unit, type));
  if constexpr (Pass::kReads) cell = cell_of_type(type);
  if (auto* number = std::get_if<uint64_t>(&cell)) pass.number(*number);
  if (auto* real = std::get_if<double>(&cell)) pass.real(*real);
  if (auto* text = std::get_if<std::string_view>(&cell)) pass.text(*text);
  if (auto* bar = std::get_if<Bar>(&cell))
    for (double& part : bar->parts) {
      pass.real(part);
      require(part >= 0 && part <= 1 + 1e-9);
    }
}

template <typename Pass>
void pass_column(Pass& pass, Column& column) {
  pass_id(pass, column.id);
  pass_heading(pass, column.title);
  pass_choice(pass, column.unit);
  pass_choice(pass, column.tree);
  pass_int(pass, column.narrow);
  pass_int(pass, column.spare);
}

template <typename Pass>
void pass_row(Pass& pass, Row& row) {
  uint64_t depth = row.depth;
  pass.number(depth);
  require(depth < UINT32_MAX);
  row.depth = uint32_t(depth);
  pass_choice(pass, row.kind);
  pass_choice(pass, row.hot);
}

/// JSON shows the only row of an object, and the only column of a list.
bool has_shape(const Table& table) {
  if (table.json == TableShape::kObject) return table.rows.size() == 1;
  return table.json != TableShape::kList || table.columns.size() == 1;
}

template <typename Pass>
void pass_table(Pass& pass, Table& table) {
  pass_id(pass, table.id);
  for (std::string* text : {&table.title, &table.empty}) pass_string(pass, *text);
  pass_rows(pass, table.columns, [&](Column& column) { pass_column(pass, column); });
  for (const Column& column : table.columns)
    require(column.narrow >= -1 && column.narrow < int(table.columns.size()));
  uint32_t deepest = 0;  // that the next row can be; drawing costs as much as rows are deep
  pass_rows(pass, table.rows, [&](Row& row) {
    pass_row(pass, row);
    require(row.depth <= deepest);
    deepest = row.depth + 1;
  });
  if constexpr (Pass::kReads) {
    require(table.columns.empty() || table.rows.size() <= pass.bytes.size() / table.columns.size());
    table.cells.resize(table.rows.size() * table.columns.size());
  }
  for (size_t i = 0; i < table.cells.size(); ++i)
    pass_cell(pass, table.cells[i], table.columns[i % table.columns.size()].unit);
  pass_choice(pass, table.narrow_names);
  pass_choice(pass, table.json);
  require(has_shape(table));
  pass_choice(pass, table.only_data);
}

template <typename Pass>
void pass_fact(Pass& pass, Fact& fact) {
  pass_id(pass, fact.id);
  pass_string(pass, fact.label);
  pass_choice(pass, fact.unit);
  pass_cell(pass, fact.value, fact.unit);
  pass_choice(pass, fact.one_line);
}

template <typename Pass>
void pass_view(Pass& pass, View& view) {
  pass_id(pass, view.name);
  pass_rows(pass, view.facts, [&](Fact& fact) { pass_fact(pass, fact); });
  pass_rows(pass, view.tables, [&](Table& table) { pass_table(pass, table); });
  pass_choice(pass, view.csv_is_facts);
  pass_rows(pass, view.legend, [&](std::pair<char, std::string_view>& entry) {
    uint64_t letter = uint8_t(entry.first);
    pass.number(letter);
    require(letter < 128);
    entry.first = char(letter);
    pass.text(entry.second);
  });
  pass_rows(pass, view.notes, [&](std::string& note) { pass_string(pass, note); });
  pass_rows(pass, view.next, [&](std::string& command) { pass_string(pass, command); });
  analyze::Ledger& ledger = view.ledger;
  for (Nanos* time : {&ledger.cpu, &ledger.sampled, &ledger.residual, &ledger.residual_placed,
                      &ledger.not_sampled, &ledger.shown, &ledger.filtered_out, &ledger.beyond_kernel})
    pass.number(time->count);
  pass_string(pass, view.filter);
}

}  // namespace

std::string stored_key(std::string_view kind, const Request& request) {
  const analyze::BandOptions bands;
  const bool plain = !request.cuts() && !request.marks.given() && !request.bands.target &&
                     request.bands.scale == bands.scale && request.bands.thresholds == bands.thresholds &&
                     request.function.empty() && request.explained == analyze::kIdleAndPoor;
  if (!plain) return "";
  return fmt::format("{} limit {} share {} inlines {} errors {} fold {} sort {} by {}", kind, request.limit,
                     request.min_share, request.inlines, request.errors, request.fold_recursion,
                     int(request.sort), int(request.by));
}

std::optional<View> StoredViews::find(std::string_view kind, const Request& request) const {
  const std::string key = stored_key(kind, request);
  const auto at = key.empty() ? views.end() : views.find(key);
  if (at == views.end()) return std::nullopt;
  View view = at->second;
  // Commands to type next name the profile as it was typed now.
  if (!request.profile_words.empty())
    for (std::string& command : view.next) command += " " + request.profile_words;
  return view;
}

std::vector<uint8_t> encode_view(const View& view) {
  Writing pass;
  View copy = view;  // its cells still point to the texts of the first
  pass_view(pass, copy);
  return std::move(pass.bytes);
}

View decode_view(std::span<const uint8_t> bytes) {
  Reading pass(bytes);
  View view;
  pass_view(pass, view);
  require(pass.bytes.empty());
  return view;
}

}  // namespace varve::view
