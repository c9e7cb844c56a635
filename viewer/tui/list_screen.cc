// SPDX-License-Identifier: MIT
// See list_screen.h.
// Context: viewer.
#include "viewer/tui/list_screen.h"

#include <algorithm>
#include <numeric>

#include "viewer/tui/row_words.h"

namespace varve::tui {
void ListScreen::refresh() {
  follow_units();
  if (!outdated()) return;
  // Who stands on the first row wants to see the largest.
  const auto selected = widget_.cursor() == 0 ? std::nullopt : widget_.selected();
  const std::string name = selected ? widget_.name_of(*selected) : "";
  made_ = workspace_.make(kind_, [this](view::Request& request) { tune(request); });
  widget_.set_table(first_table(), units_);
  order_rows();
  widget_.set_cursor(0);
  // The row that was selected is looked for by its name: it may stand elsewhere now.
  for (const uint32_t row : widget_.rows())
    if (!name.empty() && widget_.name_of(row) == name) return widget_.select(row);
}

void ListScreen::order_rows() {
  const view::Table* table = first_table();
  if (table == nullptr) return;
  std::vector<uint32_t> rows(table->rows.size());
  std::iota(rows.begin(), rows.end(), 0u);
  if (kept_.given()) std::erase_if(rows, [&](uint32_t row) { return !kept_.matches(widget_.name_of(row)); });
  if (sorted_)
    sort_rows_by(*table, *sorted_, reverse_, rows);
  else if (reverse_)
    std::ranges::reverse(rows);
  widget_.set_rows(std::move(rows));
  widget_.set_sorted(sorted_);
}

void ListScreen::sort_by(size_t column) {
  reverse_ = sorted_ == column && !reverse_;
  sorted_ = column;
  order_rows();
  widget_.set_cursor(0);
}

/// Through the columns that are shown, round and round.
void ListScreen::next_sort(ptrdiff_t step) {
  const std::vector<size_t>& columns = widget_.shown_columns();
  if (columns.empty()) return;
  const auto at = sorted_ ? std::ranges::find(columns, *sorted_) - columns.begin() : (step > 0 ? -1 : 0);
  const auto count = ptrdiff_t(columns.size());
  sorted_.reset();
  reverse_ = false;
  sort_by(columns[size_t((at + step + count) % count)]);
}

bool ListScreen::act(Action action) {
  switch (action) {
    case Action::kNextSort:
    case Action::kSortRight:
      next_sort(1);
      return true;
    case Action::kSortLeft:
      next_sort(-1);
      return true;
    case Action::kReverseOrder:
      reverse_ = !reverse_;
      order_rows();
      return true;
    default:
      return widget_.act(action);
  }
}

bool ListScreen::sort_at(Point at) {
  const auto column = widget_.heading_at(at);
  if (column) sort_by(*column);
  return column.has_value();
}

bool ListScreen::search(const analyze::Pattern& pattern, Direction direction, bool again) {
  widget_.set_match(pattern);
  return widget_.search(pattern, direction, again);
}

bool ListScreen::keep(const analyze::Pattern& pattern) {
  kept_ = pattern;
  order_rows();
  widget_.set_cursor(0);
  return true;
}

std::function<void()> ListScreen::way_back_in_view() { return widget_.way_back(); }

}  // namespace varve::tui
