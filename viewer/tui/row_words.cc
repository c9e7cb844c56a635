// SPDX-License-Identifier: MIT
// See row_words.h.
// Context: viewer.
#include "viewer/tui/row_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "viewer/render/cells.h"
#include "viewer/render/numbers.h"

namespace varve::tui {
namespace {

const view::Cell* find_cell(const view::Table& table, uint32_t row, std::string_view id) {
  for (size_t j = 0; j < table.columns.size(); ++j) {
    const view::Column& column = table.columns[j];
    if (column.id == id || (column.id.empty() && column.title == id)) return &table.row(row)[j];
  }
  return nullptr;
}

/// Of a bar: how much of it is Poor, which is what one would look for.
double weight(const view::Cell& cell) {
  if (const auto* number = std::get_if<uint64_t>(&cell)) return double(*number);
  if (const auto* share = std::get_if<double>(&cell)) return *share;
  if (const auto* bar = std::get_if<view::Bar>(&cell)) return bar->parts[size_t(analyze::Band::kPoor)];
  return -1;
}

constexpr std::string_view kInlined = " (inlined)";

/// The name of a function in a tree without what the tree puts behind it; "f (x12)" is f, folded.
std::string bare_name(std::string name) {
  if (const size_t at = name.rfind(" (x"); at != std::string::npos && name.ends_with(')') &&
                                           name.find_first_not_of("0123456789", at + 3) + 1 == name.size())
    name.resize(at);
  if (const size_t at = name.rfind(kInlined); at != std::string::npos) name.resize(at);
  return name;
}

}  // namespace

bool is_sum(const view::Row& row) {
  return row.kind == view::RowKind::kRest || row.kind == view::RowKind::kFilteredOut;
}

std::string cell_of(const view::Table& table, uint32_t row, std::string_view id) {
  const view::Cell* cell = find_cell(table, row, id);
  if (cell == nullptr) return {};
  if (const auto* text = std::get_if<std::string_view>(cell)) return std::string(*text);
  return render::number_text(*cell, view::Unit::kNumber, {});
}

uint64_t number_of(const view::Table& table, uint32_t row, std::string_view id) {
  const view::Cell* cell = find_cell(table, row, id);
  const auto* number = cell == nullptr ? nullptr : std::get_if<uint64_t>(cell);
  return number == nullptr ? 0 : *number;
}

std::vector<std::string> names_in(const view::Table& table, std::string_view id, NameForm form) {
  std::vector<std::string> names;
  std::unordered_set<std::string_view> seen;
  const auto column = std::ranges::find(table.columns, id, &view::Column::id);
  if (column == table.columns.end()) return names;
  const bool narrow = form == NameForm::kShort && column->narrow >= 0;
  const auto at = size_t(narrow ? column->narrow : column - table.columns.begin());
  for (uint32_t i = 0; i < table.rows.size(); ++i) {
    const auto* name = std::get_if<std::string_view>(&table.row(i)[at]);
    const bool named = name != nullptr && !name->empty() && table.rows[i].kind == view::RowKind::kOrdinary;
    if (named && seen.insert(*name).second) names.emplace_back(*name);
  }
  return names;
}

bool is_inlined(const view::Table& table, uint32_t row) {
  return cell_of(table, row, "function").find(kInlined) != std::string::npos;
}

std::vector<uint64_t> tree_keys(const view::Table& table) {
  std::vector<uint64_t> keys(table.rows.size());
  // By depth: the key of the row, or where that is inlined of the one that it was inlined into.
  std::vector<uint64_t> above;
  for (uint32_t i = 0; i < keys.size(); ++i) {
    const size_t depth = is_sum(table.rows[i]) ? 0 : std::min<size_t>(table.rows[i].depth, above.size());
    above.resize(depth);
    const uint64_t parent = above.empty() ? 0 : above.back();
    const std::string name = bare_name(cell_of(table, i, "function"));
    const bool inlined = is_inlined(table, i);
    // The factor keeps rows apart whose names stand in another order.
    keys[i] = (parent + (inlined ? 1 : 0)) * 0x9e3779b97f4a7c15 + std::hash<std::string>()(name);
    above.push_back(inlined ? parent : keys[i]);
  }
  return keys;
}

std::string ids_of(const view::Table& table, uint32_t row) {
  std::string ids;
  for (const std::string_view id : {"pid", "tid", "image", "object_id", "place", "module", "file", "line"})
    ids += cell_of(table, row, id) + '\n';
  return ids;
}

bool has_column_id(const view::Table& table, std::string_view id) {
  return std::ranges::find(table.columns, id, &view::Column::id) != table.columns.end();
}

Subject subject_of(const view::Table& table, uint32_t row) {
  Subject subject;
  if (is_sum(table.rows[row])) return subject;
  if (table.rows[row].kind == view::RowKind::kOrdinary)
    subject.function = bare_name(cell_of(table, row, "function"));
  subject.module = cell_of(table, row, "module");
  subject.thread = cell_of(table, row, "tid");
  subject.place = cell_of(table, row, "place");
  // Of rows of several kinds a column says which they are.
  const auto has = [&](std::string_view id) { return find_cell(table, row, id) != nullptr; };
  subject.object = cell_of(table, row, "object_id");
  subject.object_words = cell_of(table, row, has("object") ? "object" : "what");
  subject.waits = has("part") ? cell_of(table, row, "part") == "waiting" : has("wait_count");
  return subject;
}

std::string chosen(const Subject& subject) {
  return subject.place.empty() ? subject.function : subject.function + "@" + subject.place;
}

Detail detail_of(const view::Table& table, uint32_t row, std::string_view counted) {
  Detail detail;
  for (const std::string_view id :
       {"object", "what", "function", "command", "name", "path", "module", "Doing"})
    if (detail.name.empty()) detail.name = cell_of(table, row, id);
  const auto add = [&](const std::string& words) {
    if (!words.empty()) detail.more += (detail.more.empty() ? "" : "   ") + words;
  };
  for (const std::string_view id : {"created_at", "On the path", "Class"}) add(cell_of(table, row, id));
  const std::string file = cell_of(table, row, "file"), line = cell_of(table, row, "line");
  add(file.substr(file.rfind('/') + 1) + (file.empty() || line.empty() ? "" : ":" + line));
  if (const std::string module = cell_of(table, row, "module"); module != detail.name) add(module);
  if (const uint64_t samples = number_of(table, row, "samples"); samples != 0)
    add(fmt::format("{} {}{}", samples, counted, samples == 1 ? "" : "s"));
  return detail;
}

void sort_rows_by(const view::Table& table, size_t column, bool reverse, std::vector<uint32_t>& rows) {
  const auto before = [&](uint32_t a, uint32_t b) {
    const view::Cell &of_a = table.row(a)[column], &of_b = table.row(b)[column];
    const auto *name_a = std::get_if<std::string_view>(&of_a), *name_b = std::get_if<std::string_view>(&of_b);
    if (name_a == nullptr && name_b == nullptr) return weight(of_a) > weight(of_b);
    // A cell without a text stands as one with an empty one.
    return (name_a ? *name_a : std::string_view()) < (name_b ? *name_b : std::string_view());
  };
  std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    const bool sum_a = is_sum(table.rows[a]), sum_b = is_sum(table.rows[b]);
    if (sum_a || sum_b) return !sum_a && sum_b;
    return reverse ? before(b, a) : before(a, b);
  });
}

}  // namespace varve::tui
