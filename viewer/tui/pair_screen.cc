// SPDX-License-Identifier: MIT
// See pair_screen.h.
// Context: viewer.
#include "viewer/tui/pair_screen.h"

#include <algorithm>
#include <numeric>

namespace varve::tui {
namespace {

/// The text of a row in a column of that id; empty where the table has none.
std::string_view text_in(const view::Table& table, uint32_t row, std::string_view id) {
  const auto column = std::ranges::find(table.columns, id, &view::Column::id);
  if (column == table.columns.end()) return {};
  const auto* text = std::get_if<std::string_view>(&table.row(row)[size_t(column - table.columns.begin())]);
  return text ? *text : std::string_view();
}

}  // namespace

const view::Table* PairScreen::lower_table() const {
  if (!made_) return nullptr;
  const auto found = std::ranges::find(made_->tables, below_, &view::Table::id);
  return found == made_->tables.end() ? nullptr : &*found;
}

void PairScreen::choose_rows(const view::Table& lower) {
  std::vector<uint32_t> rows(lower.rows.size());
  std::iota(rows.begin(), rows.end(), 0u);
  const auto selected = widget_.selected();
  if (!link_.empty() && selected && first_table() != nullptr) {
    const std::string_view wanted = text_in(*first_table(), *selected, link_);
    std::erase_if(rows, [&](uint32_t row) { return text_in(lower, row, link_) != wanted; });
  }
  lower_.set_rows(std::move(rows));
}

/// The lower table has what it needs, a third at the most; its title is in the line between.
void PairScreen::draw(Pane pane) {
  refresh();
  const view::Table* lower = lower_table();
  if (lower != shown_) lower_.set_table(shown_ = lower, units_);
  lower_.set_units(units_);
  lower_.set_active(false);
  if (lower != nullptr) choose_rows(*lower);
  const size_t wanted = lower == nullptr || lower_.rows().empty() ? 0 : lower_.rows().size() + 2;
  const size_t below = std::min(wanted, pane.rows() / 3 + 1);
  top_rows_ = pane.rows() - below;
  TableScreen::draw(pane.below(0, top_rows_));
  if (below == 0) return;
  pane.repeat(top_rows_, 0, workspace_.look.utf8 ? U'─' : U'-', pane.columns(), kDim);
  if (!lower->title.empty()) pane.put(top_rows_, 2, " " + lower->title + " ", kDim, pane.columns() - 4);
  lower_.draw(pane.below(top_rows_ + 1, below - 1));
}

}  // namespace varve::tui
