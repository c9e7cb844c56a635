// SPDX-License-Identifier: MIT
// See row_words.h.
// Context: viewer.
#include "viewer/tui/row_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "viewer/render/cells.h"
#include "viewer/render/numbers.h"

namespace varve::tui {
namespace {

bool is_sum(const view::Row& row) {
  return row.kind == view::RowKind::kRest || row.kind == view::RowKind::kFilteredOut;
}

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

}  // namespace

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

Subject subject_of(const view::Table& table, uint32_t row) {
  Subject subject;
  if (is_sum(table.rows[row])) return subject;
  if (table.rows[row].kind == view::RowKind::kOrdinary) subject.function = cell_of(table, row, "function");
  // "f (x12)" is f, folded.
  if (const size_t at = subject.function.rfind(" (x");
      at != std::string::npos && subject.function.ends_with(')') &&
      subject.function.find_first_not_of("0123456789", at + 3) + 1 == subject.function.size())
    subject.function.resize(at);
  constexpr std::string_view kInlined = " (inlined)";
  if (const size_t at = subject.function.rfind(kInlined); at != std::string::npos)
    subject.function.resize(at);
  subject.module = cell_of(table, row, "module");
  subject.thread = cell_of(table, row, "tid");
  return subject;
}

Detail detail_of(const view::Table& table, uint32_t row) {
  Detail detail;
  for (const std::string_view id : {"function", "command", "name", "path", "module"})
    if (detail.name.empty()) detail.name = cell_of(table, row, id);
  const auto add = [&](const std::string& words) {
    if (!words.empty()) detail.more += (detail.more.empty() ? "" : "   ") + words;
  };
  const std::string file = cell_of(table, row, "file"), line = cell_of(table, row, "line");
  add(file.substr(file.rfind('/') + 1) + (file.empty() || line.empty() ? "" : ":" + line));
  if (const std::string module = cell_of(table, row, "module"); module != detail.name) add(module);
  if (const uint64_t samples = number_of(table, row, "samples"); samples != 0)
    add(fmt::format("{} {}", samples, samples == 1 ? "sample" : "samples"));
  return detail;
}

void sort_rows_by(const view::Table& table, size_t column, bool reverse, std::vector<uint32_t>& rows) {
  const auto before = [&](uint32_t a, uint32_t b) {
    const view::Cell &of_a = table.row(a)[column], &of_b = table.row(b)[column];
    const auto *name_a = std::get_if<std::string_view>(&of_a), *name_b = std::get_if<std::string_view>(&of_b);
    if (name_a != nullptr && name_b != nullptr) return *name_a < *name_b;
    return weight(of_a) > weight(of_b);
  };
  std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    const bool sum_a = is_sum(table.rows[a]), sum_b = is_sum(table.rows[b]);
    if (sum_a || sum_b) return !sum_a && sum_b;
    return reverse ? before(b, a) : before(a, b);
  });
}

}  // namespace varve::tui
