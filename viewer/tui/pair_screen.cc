// SPDX-License-Identifier: MIT
// See pair_screen.h.
// Context: viewer.
#include "viewer/tui/pair_screen.h"

#include <algorithm>
#include <numeric>

#include "viewer/tui/row_words.h"

namespace varve::tui {
namespace {

/// A title, a heading and what is worth being below them.
constexpr size_t kLeastRows = 4;
/// Where a second table below takes room from the list.
constexpr size_t kTall = 30;

}  // namespace

PairScreen::PairScreen(Workspace& workspace, std::string kind, const std::vector<Below>& below)
    : ListScreen(workspace, std::move(kind)) {
  for (const Below& each : below) lower_.push_back({each});
}

void PairScreen::refresh_lower(Lower& lower) {
  const view::Table* table = nullptr;
  if (made_) {
    const auto found = std::ranges::find(made_->tables, lower.what.id, &view::Table::id);
    if (found != made_->tables.end()) table = &*found;
  }
  if (table != lower.shown) lower.widget.set_table(lower.shown = table, units_);
  lower.widget.set_units(units_);
  lower.widget.set_active(false);
  choose_rows(lower);
}

void PairScreen::choose_rows(Lower& lower) {
  std::vector<uint32_t> rows(lower.shown == nullptr ? 0 : lower.shown->rows.size());
  std::iota(rows.begin(), rows.end(), 0u);
  const auto selected = widget_.selected();
  if (!lower.what.link.empty() && selected && first_table() != nullptr) {
    const std::string wanted = cell_of(*first_table(), *selected, lower.what.link);
    std::erase_if(rows, [&](uint32_t row) {
      return wanted.empty() || cell_of(*lower.shown, row, lower.what.link) != wanted;
    });
  }
  lower.widget.set_rows(std::move(rows));
}

/// What the list does not need is for the tables below it, and a third of the screen in any case, or half of
/// a tall one; the first of them has what it needs as far as the others keep a few rows there.
std::vector<size_t> PairScreen::shares(size_t rows) const {
  const size_t list = widget_.rows().size() + 2;
  const size_t least = rows >= kTall ? rows / 2 : rows / 3 + 1;
  size_t room = std::max(least, rows - std::min(rows, list));
  std::vector<size_t> shares;
  for (size_t i = 0; i < lower_.size(); ++i) {
    size_t kept = 0;
    for (size_t j = i + 1; j < lower_.size() && rows >= kTall; ++j)
      kept += std::min(lower_[j].wanted_rows(), kLeastRows + 2);
    const size_t share = std::min(lower_[i].wanted_rows(), room - std::min(room, kept));
    shares.push_back(share < std::min(kLeastRows, lower_[i].wanted_rows()) ? 0 : share);
    room -= shares.back();
  }
  return shares;
}

/// Its title is in the line above.
void PairScreen::draw_lower(Lower& lower, Pane pane) const {
  pane.repeat(0, 0, workspace_.look.utf8 ? U'─' : U'-', pane.columns(), kDim);
  if (!lower.shown->title.empty()) pane.put(0, 2, " " + lower.shown->title + " ", kDim, pane.columns() - 4);
  lower.widget.draw(pane.below(1, pane.rows() - 1));
}

void PairScreen::draw(Pane pane) {
  // A view that is made again may have its tables at the same addresses, and none for some widgets.
  if (!up_to_date())
    for (Lower& lower : lower_) lower.widget.set_table(lower.shown = nullptr, units_);
  refresh();
  for (Lower& lower : lower_) refresh_lower(lower);
  const std::vector<size_t> below = shares(pane.rows());
  top_rows_ = pane.rows() - std::accumulate(below.begin(), below.end(), size_t(0));
  TableScreen::draw(pane.below(0, top_rows_));
  size_t at = top_rows_;
  for (size_t i = 0; i < below.size(); ++i) {
    if (below[i] != 0) draw_lower(lower_[i], pane.below(at, below[i]));
    at += below[i];
  }
}

}  // namespace varve::tui
