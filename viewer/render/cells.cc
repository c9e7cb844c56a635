// SPDX-License-Identifier: MIT
// See cells.h.
// Context: viewer.
#include "viewer/render/cells.h"

#include <fmt/format.h>

#include <algorithm>

#include "viewer/render/elide_name.h"

namespace varve::render {

uint64_t largest_time(const view::Table& table) {
  // What was cut may be a thousand times as much as what stands: then its digits, not those of the rows, are
  // too many.
  constexpr uint64_t kMoreDigits = 1000;
  uint64_t most = 0, of_sums = 0;
  for (size_t j = 0; j < table.columns.size(); ++j) {
    const view::Column& column = table.columns[j];
    if (column.title.empty() || column.unit != view::Unit::kTime) continue;
    for (size_t i = 0; i < table.rows.size(); ++i) {
      const view::RowKind kind = table.rows[i].kind;
      uint64_t& largest =
          kind == view::RowKind::kRest || kind == view::RowKind::kFilteredOut ? of_sums : most;
      if (const auto* number = std::get_if<uint64_t>(&table.row(i)[j])) largest = std::max(largest, *number);
    }
  }
  return most == 0 ? of_sums : std::max(most, of_sums / kMoreDigits);
}

TimeScale common_scale(const view::Table& table) { return time_scale(largest_time(table)); }

std::string number_text(const view::Cell& cell, view::Unit unit, const TimeScale& scale) {
  if (const auto* share = std::get_if<double>(&cell))
    return unit == view::Unit::kRatio ? fmt::format("{:.2f}", *share) : percent(*share);
  const auto* number = std::get_if<uint64_t>(&cell);
  if (number == nullptr) return "";
  if (unit == view::Unit::kTime) return time_number(*number, scale);
  if (unit == view::Unit::kMean) return short_time_text(*number);
  if (unit == view::Unit::kBytes) return bytes_text(*number);
  if (unit == view::Unit::kFlag) return *number != 0 ? "yes" : "no";
  return fmt::format("{}", *number);
}

bool stands_left(view::Unit unit) {
  return unit == view::Unit::kText || unit == view::Unit::kBar || unit == view::Unit::kStrip;
}

std::string heading_text(const view::Column& column, const TimeScale& scale) {
  const std::string title = escape(column.title, Charset::kAscii);
  return column.unit == view::Unit::kTime ? fmt::format("{} {}", title, scale.unit) : title;
}

std::string cell_text(const view::Cell& cell, view::Unit unit, Charset charset) {
  if (const auto* name = std::get_if<std::string_view>(&cell)) return escape(*name, charset);
  if (const auto* number = std::get_if<uint64_t>(&cell); number != nullptr && unit == view::Unit::kTime) {
    return time_text(*number);
  }
  if (std::holds_alternative<double>(cell)) return number_text(cell, unit, {}) + "%";
  return number_text(cell, unit, {});
}

namespace {

/// Of "Condition 0x7f0e90016270 (Monitor)" where the address ends; npos: there is none. Instructions and
/// source lines have numbers that are shorter, or other signs behind them.
size_t end_of_address(std::string_view text) {
  constexpr std::string_view kStart = " 0x";
  constexpr size_t kLeastDigits = 6;
  const size_t at = text.find(kStart), digits = at + kStart.size();
  if (at == std::string_view::npos) return at;
  const size_t end = std::min(text.find_first_not_of("0123456789abcdef", digits), text.size());
  const bool named = end == text.size() || text.substr(end).starts_with(" (");
  return named && end >= digits + kLeastDigits ? end : std::string_view::npos;
}

/// What is behind the address goes first, then the middle: its last digits tell one object from another.
std::string elide_to_address(std::string_view escaped, size_t end, size_t width) {
  if (display_width(escaped) <= width) return std::string(escaped);
  const std::string_view object = escaped.substr(0, end);
  const size_t taken = display_width(object);
  if (taken > width) return elide_middle(object, width);
  return fmt::format("{}{}", object, width - taken >= 3 ? "..." : "");
}

/// "92%" as a word of its own at the end.
bool ends_in_share(std::string_view text) {
  const size_t last = text.rfind(' ');
  return last != std::string_view::npos && last + 2 < text.size() && text.ends_with('%') &&
         text.find_first_not_of("0123456789", last + 1) == text.size() - 1;
}

}  // namespace

std::string elide_cell(const view::Table& table, size_t column, std::string_view escaped, size_t width) {
  const bool names = table.columns[column].narrow >= 0 &&
                     std::ranges::find(table.columns, "function", &view::Column::id) != table.columns.end();
  const size_t address_end = end_of_address(escaped);
  if (address_end != std::string_view::npos) return elide_to_address(escaped, address_end, width);
  // In such a table stands beside functions what is none: "node 32510 92%".
  return names && !ends_in_share(escaped) ? elide_name(escaped, width) : elide_middle(escaped, width);
}

}  // namespace varve::render
