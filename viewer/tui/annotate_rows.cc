// SPDX-License-Identifier: MIT
// See annotate_rows.h.
// Context: viewer.
#include "viewer/tui/annotate_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "viewer/render/elide_name.h"
#include "viewer/render/escape.h"
#include "viewer/tui/row_words.h"

namespace varve::tui {

bool has_column(const view::Table& table, std::string_view title) {
  return std::ranges::any_of(table.columns, [&](const view::Column& each) { return each.title == title; });
}

double share_of(const view::Table& table, uint32_t row) {
  for (size_t j = 0; j < table.columns.size(); ++j)
    if (table.columns[j].unit == view::Unit::kShare)
      if (const auto* share = std::get_if<double>(&table.row(row)[j])) return *share;
  return 0;
}

std::string address_of(const view::Table& table, uint32_t row) {
  std::string address = cell_of(table, row, "Address");
  if (address.ends_with(':')) address.pop_back();
  return address;
}

std::vector<uint32_t> hot_rows(const view::Table& table) {
  std::vector<uint32_t> rows;
  for (uint32_t i = 0; i < table.rows.size(); ++i)
    if (table.rows[i].kind == view::RowKind::kOrdinary && share_of(table, i) > 0) rows.push_back(i);
  std::ranges::stable_sort(rows, std::greater<>(), [&](uint32_t row) { return share_of(table, row); });
  return rows;
}

bool untimed(const view::View& view) {
  const auto total = std::ranges::find(view.facts, "total_ns", &view::Fact::id);
  const auto* ns = total == view.facts.end() ? nullptr : std::get_if<uint64_t>(&total->value);
  return ns != nullptr && *ns == 0;
}

void draw_function(Pane& pane, const view::View& view) {
  const auto charset = pane.look().utf8 ? render::Charset::kUtf8 : render::Charset::kAscii;
  const auto fact = std::ranges::find(view.facts, "function", &view::Fact::id);
  const auto* name = fact == view.facts.end() ? nullptr : std::get_if<std::string_view>(&fact->value);
  if (name == nullptr) return;
  pane.put(0, 0, render::elide_name(render::escape(*name, charset), pane.columns()), kHeading);
  pane = pane.below(1);
}

std::string short_title(const std::string& title, size_t width) {
  for (const std::string_view before : {"Code of ", "Inlined into "}) {
    const size_t end = title.rfind(" ("), fixed = before.size() + title.size() - std::min(end, title.size());
    if (!title.starts_with(before) || end == std::string::npos || fixed > width / 2) continue;
    const std::string name = title.substr(before.size(), end - before.size());
    return fmt::format("{}{}{}", before, render::elide_name(name, width - fixed), title.substr(end));
  }
  return render::elide_middle(title, width);
}

}  // namespace varve::tui
