// SPDX-License-Identifier: MIT
// See list_screen.h.
// Context: viewer.
#include "viewer/tui/list_screen.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "viewer/tui/row_words.h"

namespace varve::tui {

void ListScreen::refresh() {
  follow_units();
  if (!outdated()) return;
  // Who stands on the first row wants to see the largest.
  const auto selected = widget_.cursor() == 0 ? std::nullopt : widget_.selected();
  const std::string name = selected ? widget_.name_of(*selected) : "";
  const std::string ids = selected ? ids_of(*first_table(), *selected) : "";
  made_ = workspace_.make(kind_, [this](view::Request& request) { tune(request); });
  widget_.set_table(first_table(), units_);
  keep_order();
  order_rows();
  widget_.set_cursor(0);
  if (!name.empty()) select_again(name, ids);
}

/// The row that was selected may stand elsewhere now, and others may have its name.
void ListScreen::select_again(const std::string& name, const std::string& ids) {
  std::optional<uint32_t> same_name;
  for (const uint32_t row : widget_.rows()) {
    if (widget_.name_of(row) != name) continue;
    if (ids_of(*first_table(), row) == ids) return widget_.select(row);
    if (!same_name) same_name = row;
  }
  if (same_name) widget_.select(*same_name);
}

/// Where it is in this table: another one may have it elsewhere, or not at all.
std::optional<size_t> ListScreen::sorted() const {
  const view::Table* table = first_table();
  for (size_t j = 0; sorted_by_ && table != nullptr && j < table->columns.size(); ++j)
    if (table->columns[j].title == sorted_by_->title && table->columns[j].id == sorted_by_->id) return j;
  return std::nullopt;
}

/// A column that is gone sorts nothing any more, and who asks for an order by its name gets that.
void ListScreen::keep_order() {
  const bool asked = std::exchange(asked_sort_, workspace_.request().sort) != workspace_.request().sort;
  if (!asked && (!sorted_by_ || first_table() == nullptr || sorted())) return;
  sorted_by_.reset();
  reverse_ = false;
}

void ListScreen::order_rows() {
  const view::Table* table = first_table();
  if (table == nullptr) return;
  std::vector<uint32_t> rows(table->rows.size());
  std::iota(rows.begin(), rows.end(), 0u);
  if (kept_.given()) std::erase_if(rows, [&](uint32_t row) { return !widget_.matches(kept_, row); });
  if (sorted()) {
    sort_rows_by(*table, *sorted(), reverse_, rows);
  } else if (reverse_) {
    const auto sums = std::stable_partition(rows.begin(), rows.end(),
                                            [&](uint32_t row) { return !is_sum(table->rows[row]); });
    std::reverse(rows.begin(), sums);
  }
  widget_.set_rows(std::move(rows));
  widget_.set_sorted(sorted());
}

void ListScreen::sort_by(size_t column) {
  reverse_ = sorted() == column && !reverse_;
  sorted_by_ = first_table()->columns[column];
  order_rows();
  widget_.set_cursor(0);
}

/// Through the columns that are shown, round and round.
void ListScreen::next_sort(ptrdiff_t step) {
  const std::vector<size_t>& columns = widget_.shown_columns();
  if (columns.empty()) return;
  const auto at = sorted() ? std::ranges::find(columns, *sorted()) - columns.begin() : (step > 0 ? -1 : 0);
  const auto count = ptrdiff_t(columns.size());
  sorted_by_.reset();
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
