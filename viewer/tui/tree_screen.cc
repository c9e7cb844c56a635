// SPDX-License-Identifier: MIT
// See tree_screen.h.
// Context: viewer.
#include "viewer/tui/tree_screen.h"

#include <algorithm>

#include "viewer/render/tree_lines.h"
#include "viewer/tui/next_match.h"
#include "viewer/tui/row_words.h"

namespace varve::tui {
namespace {

constexpr uint32_t kNoRow = UINT32_MAX;
constexpr size_t kMostLevels = 8;  // of branches that are drawn; deeper ones are a number

}  // namespace

void TreeScreen::refresh() {
  follow_units();
  if (!outdated()) return;
  const Folds before = asked_anew() ? Folds() : folds();
  made_ = workspace_.make(kind_, [](view::Request& request) {
    request.fold_recursion = true;
    if (request.min_share == 0) request.min_share = view::kTreeScreenShare;
  });
  widget_.set_table(first_table(), units_);
  find_family();
  open_hot_path(0);
  fold_as(before);
  find_kept();
  show_rows();
  if (before.selected && first_table() != nullptr) select_key(*before.selected);
}

TreeScreen::Folds TreeScreen::folds() const {
  Folds folds;
  const view::Table* table = first_table();
  if (table == nullptr) return folds;
  const std::vector<uint64_t> keys = tree_keys(*table);
  for (uint32_t i = 0; i < keys.size(); ++i) folds.open.emplace(keys[i], open_[i]);
  if (const auto row = widget_.selected()) folds.selected = keys[*row];
  return folds;
}

/// What was there before is as it was; inlined calls that are new are open where their caller is, so that
/// what was seen below it still is.
void TreeScreen::fold_as(const Folds& before) {
  const view::Table* table = first_table();
  if (table == nullptr || before.open.empty()) return;
  const std::vector<uint64_t> keys = tree_keys(*table);
  for (uint32_t i = 0; i < keys.size(); ++i) {
    const auto known = before.open.find(keys[i]);
    if (known != before.open.end())
      open_[i] = known->second && has_children(i);
    else if (is_inlined(*table, i))
      open_[i] = has_children(i) && parent_[i] != kNoRow && open_[parent_[i]];
  }
}

void TreeScreen::select_key(uint64_t key) {
  const std::vector<uint64_t> keys = tree_keys(*first_table());
  for (const uint32_t row : widget_.rows())
    if (keys[row] == key) return widget_.select(row);
}

/// From depths alone: rows stand in the order of a tree that is read.
void TreeScreen::find_family() {
  const view::Table* table = first_table();
  const size_t count = table == nullptr ? 0 : table->rows.size();
  parent_.assign(count, kNoRow);
  end_.assign(count, 0);
  open_.assign(count, false);
  std::vector<uint32_t> above;  // the last row of each depth
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t depth = !is_sum(table->rows[i]) ? table->rows[i].depth : 0;
    for (size_t d = depth; d < above.size(); ++d) end_[above[d]] = i;
    above.resize(std::min<size_t>(above.size(), depth));
    if (depth > 0 && !above.empty()) parent_[i] = above.back();
    above.push_back(i);
  }
  for (const uint32_t row : above) end_[row] = uint32_t(count);
}

/// Rows all of whose parents are open; while rows are kept by a pattern, those and their parents.
void TreeScreen::show_rows() {
  const view::Table* table = first_table();
  if (table == nullptr) return;
  std::vector<uint32_t> rows;
  for (uint32_t i = 0; i < table->rows.size();) {
    if (stands(i)) rows.push_back(i);
    i = stands(i) && open_[i] ? i + 1 : std::max(end_[i], i + 1);
  }
  std::vector<view::Row> shown;
  for (const uint32_t row : rows) shown.push_back(table->rows[row]);
  const auto charset = workspace_.look.utf8 ? render::Charset::kUtf8 : render::Charset::kAscii;
  std::vector<std::string> prefixes = render::tree_lines(shown, charset, kMostLevels);
  for (size_t i = 0; i < rows.size(); ++i)
    prefixes[i] += !has_children(rows[i]) ? "  " : open_[rows[i]] ? "- " : "+ ";
  widget_.set_rows(std::move(rows));
  widget_.set_prefixes(std::move(prefixes));
}

/// From a row down to where no child has half of its parent's time.
void TreeScreen::open_hot_path(uint32_t from) {
  const view::Table* table = first_table();
  if (table == nullptr || table->rows.empty()) return;
  for (uint32_t i = 0; i < table->rows.size(); ++i)
    if (table->rows[i].hot) open_[i] = has_children(i);
  open_parents(from);
}

/// Whether the first child, which is the heaviest, has half of the time of its parent.
bool TreeScreen::heavy_child(uint32_t row) const {
  const view::Table& table = *first_table();
  return 2 * number_of(table, row + 1, "total_ns") >= number_of(table, row, "total_ns");
}

void TreeScreen::open_parents(uint32_t row) {
  for (uint32_t above = parent_[row]; above != kNoRow; above = parent_[above]) open_[above] = true;
}

void TreeScreen::set_open_below(uint32_t row, bool open) {
  for (uint32_t i = row; i < end_[row]; ++i) open_[i] = open && has_children(i);
}

/// One level more or less below a row: opens the highest that are folded, folds the deepest that are open.
void TreeScreen::set_open_levels(uint32_t row, bool open) {
  const view::Table& table = *first_table();
  uint32_t level = open ? kNoRow : 0;
  for (uint32_t i = row; i < end_[row]; i = open_[i] ? i + 1 : end_[i])
    if (has_children(i) && open_[i] != open)
      level = open ? std::min(level, table.rows[i].depth) : std::max(level, table.rows[i].depth);
  for (uint32_t i = row; i < end_[row]; ++i)
    if (has_children(i) && table.rows[i].depth == level && (open || open_[i])) open_[i] = open;
}

void TreeScreen::toggle() {
  if (const auto row = widget_.selected(); row && has_children(*row)) open_[*row] = !open_[*row];
}

void TreeScreen::left() {
  const auto row = widget_.selected();
  if (!row) return;
  if (open_[*row])
    open_[*row] = false;
  else if (parent_[*row] != kNoRow)
    widget_.select(parent_[*row]);
}

void TreeScreen::right() {
  const auto row = widget_.selected();
  if (!row || !has_children(*row)) return;
  if (open_[*row])
    widget_.act(Action::kDown);
  else
    open_[*row] = true;
}

void TreeScreen::sibling(ptrdiff_t step) {
  const auto row = widget_.selected();
  if (!row) return;
  const std::vector<uint32_t>& rows = widget_.rows();
  for (ptrdiff_t at = ptrdiff_t(widget_.cursor()) + step; at >= 0 && at < ptrdiff_t(rows.size()); at += step)
    if (parent_[rows[size_t(at)]] == parent_[*row]) return widget_.set_cursor(size_t(at));
}

/// Opens the heaviest children of a row; the last of them.
uint32_t TreeScreen::open_heavy(uint32_t row) {
  for (; has_children(row) && heavy_child(row); ++row) open_[row] = true;
  show_rows();
  return row;
}

/// The row with the most self time, as hotspots has it; of those with none that with the most in all. The
/// cursor stays on it, and below it the hot path is open.
bool TreeScreen::show_hot_path(const Subject& subject) {
  const view::Table* table = first_table();
  if (table == nullptr) return false;
  std::optional<uint32_t> best;
  const auto weight = [&](uint32_t row) {
    return std::pair(number_of(*table, row, "self_ns"), number_of(*table, row, "total_ns"));
  };
  for (uint32_t row = 0; row < table->rows.size(); ++row)
    if (stands(row) && chosen(subject_of(*table, row)) == chosen(subject) &&
        (!best || weight(row) > weight(*best)))
      best = row;
  if (!best) return false;
  open_parents(*best);
  open_heavy(*best);
  widget_.select(*best);
  widget_.center();
  return true;
}

bool TreeScreen::act(Action action) {
  const auto row = widget_.selected();
  if (!row) return widget_.act(action);
  switch (action) {
    case Action::kOpen:
    case Action::kMark:
      toggle();
      break;
    case Action::kLeft:
      left();
      break;
    case Action::kRight:
      right();
      break;
    case Action::kUnfold:
      set_open_levels(*row, true);
      break;
    case Action::kFold:
      set_open_levels(*row, false);
      break;
    case Action::kUnfoldBelow:
      set_open_below(*row, true);
      break;
    case Action::kUnfoldAll:
      for (uint32_t i = 0; i < open_.size(); ++i) open_[i] = has_children(i);
      break;
    case Action::kFoldAll: {
      uint32_t top = *row;
      while (parent_[top] != kNoRow) top = parent_[top];
      open_.assign(open_.size(), false);
      show_rows();
      widget_.select(top);
      break;
    }
    case Action::kHottest:
      widget_.select(open_heavy(*row));
      break;
    case Action::kPreviousSibling:
      sibling(-1);
      return true;
    case Action::kNextSibling:
      sibling(1);
      return true;
    default:
      return widget_.act(action);
  }
  show_rows();
  return true;
}

Detail TreeScreen::detail() const {
  const auto row = widget_.selected();
  if (!row) return {};
  Detail detail = TableScreen::detail();
  size_t level = 1;
  for (uint32_t above = parent_[*row]; above != kNoRow; above = parent_[above]) ++level;
  detail.more += "   level " + std::to_string(level);
  return detail;
}

/// Through all rows, folded ones included; the one found is unfolded.
bool TreeScreen::search(const analyze::Pattern& pattern, Direction direction, bool again) {
  widget_.set_match(pattern);
  const auto row = widget_.selected();
  if (!row) return false;
  const auto fits = [&](size_t at) {
    return stands(uint32_t(at)) && pattern.matches(widget_.name_of(uint32_t(at)));
  };
  const auto found = next_match(open_.size(), *row, direction, again, fits);
  if (!found) return false;
  open_parents(uint32_t(*found));
  show_rows();
  widget_.select(uint32_t(*found));
  return true;
}

void TreeScreen::find_kept() {
  kept_.clear();
  if (!keep_.given()) return;
  kept_.assign(open_.size(), false);
  for (uint32_t i = 0; i < open_.size(); ++i) {
    if (!keep_.matches(widget_.name_of(i))) continue;
    for (uint32_t at = i; at != kNoRow && !kept_[at]; at = parent_[at]) kept_[at] = true;
    open_parents(i);
  }
}

bool TreeScreen::keep(const analyze::Pattern& pattern) {
  keep_ = pattern;
  find_kept();
  show_rows();
  return true;
}

std::function<void()> TreeScreen::way_back_in_view() {
  return [this, open = open_, back = widget_.way_back()] {
    open_ = open;
    show_rows();
    back();
  };
}

}  // namespace varve::tui
