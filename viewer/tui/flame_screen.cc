// SPDX-License-Identifier: MIT
// See flame_screen.h.
// Context: viewer.
#include "viewer/tui/flame_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "viewer/render/elide_name.h"
#include "viewer/render/escape.h"
#include "viewer/render/numbers.h"
#include "viewer/tui/bars.h"
#include "viewer/tui/next_match.h"
#include "viewer/tui/row_words.h"

namespace varve::tui {
namespace {

constexpr size_t kDetailRows = 5;
constexpr size_t kLeastText = 4;  // columns inside of a cell that a name is worth

double part(uint64_t time, uint64_t whole) { return whole == 0 ? 0 : double(time) / double(whole); }

const view::Bar* bar_of(const view::Table& table, uint32_t row) {
  for (const view::Cell& cell : table.row(row))
    if (const auto* bar = std::get_if<view::Bar>(&cell)) return bar;
  return nullptr;
}

}  // namespace

void FlameScreen::refresh() {
  if (!outdated()) return;
  const bool anew = asked_anew();
  const std::vector<uint64_t> selected = keys_to_root(selected_), zoomed = keys_to_root(zoom_);
  made_ = workspace_.make("top-down", [](view::Request& request) {
    request.fold_recursion = true;
    request.min_share = std::max(request.min_share, view::kFlameScreenShare);
  });
  nodes_.assign(1, {});
  selected_ = zoom_ = 0;
  first_level_ = 0;
  keys_.clear();
  boxes_.clear();
  if (first_table() == nullptr) return;
  // All that is shown is as wide as the screen, and what is too small for a cell stays blank; shares are of
  // all CPU time, as on other screens.
  nodes_[0].time = made_->ledger.shown.count;
  const view::Table& table = made_->tables.front();
  keys_ = tree_keys(table);
  std::vector<uint32_t> above = {0};
  std::vector<uint32_t> last_child = {0};
  for (uint32_t i = 0; i < table.rows.size(); ++i) {
    const view::Row& row = table.rows[i];
    if (is_sum(row)) continue;
    const size_t depth = std::min<size_t>(row.depth + 1, above.size());
    above.resize(depth);
    last_child.resize(depth);
    const uint32_t node = uint32_t(nodes_.size()), parent = above.back(), before = last_child.back();
    Node added{i, parent, uint32_t(depth), 0, number_of(table, i, "total_ns"), 0, 0, node + 1};
    added.begin = before == 0 ? nodes_[parent].begin : nodes_[before].begin + nodes_[before].time;
    nodes_.push_back(added);
    (before == 0 ? nodes_[parent].first_child : nodes_[before].next) = node;
    last_child.back() = node;
    above.push_back(node);
    last_child.push_back(0);
  }
  // Nodes stand in the order of a tree that is read, children after their parents.
  for (uint32_t node = uint32_t(nodes_.size()); --node > 0;)
    nodes_[nodes_[node].parent].end = std::max(nodes_[nodes_[node].parent].end, nodes_[node].end);
  if (!anew && selected.size() > 1) {
    selected_ = nearest(selected);
    zoom_ = nearest(zoomed);
    return;
  }
  // The hot path's end is where one looks first.
  while (const uint32_t child = nodes_[selected_].first_child) {
    if (nodes_[child].time * 2 < nodes_[selected_].time) break;
    selected_ = child;
  }
}

/// Of a node and all above it; the root has 0.
std::vector<uint64_t> FlameScreen::keys_to_root(uint32_t node) const {
  std::vector<uint64_t> keys;
  for (; node != 0; node = nodes_[node].parent) keys.push_back(keys_[nodes_[node].row]);
  keys.push_back(0);
  return keys;
}

/// The node of the first of these keys that there is.
uint32_t FlameScreen::nearest(const std::vector<uint64_t>& keys_to_root) const {
  for (const uint64_t key : keys_to_root)
    for (uint32_t node = 1; node < nodes_.size(); ++node)
      if (keys_[nodes_[node].row] == key) return node;
  return 0;
}

bool FlameScreen::below(uint32_t node, uint32_t above) const {
  return node >= above && node < nodes_[above].end;
}

/// Boxes of all nodes that are a column wide: those above the zoomed one as wide as it.
void FlameScreen::place(size_t rows, size_t columns) {
  boxes_.clear();
  const Node& zoom = nodes_[zoom_];
  const auto column_of = [&](uint64_t time) {
    const uint64_t from = time > zoom.begin ? time - zoom.begin : 0;
    return size_t(part(std::min(from, zoom.time), zoom.time) * double(columns) + 0.5);
  };
  // What is selected stays on the screen, however deep.
  const size_t level = nodes_[selected_].depth;
  first_level_ = std::min(first_level_, level);
  if (rows > 0 && level >= first_level_ + rows) first_level_ = level - rows + 1;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (node.depth < first_level_ || node.depth >= first_level_ + rows) continue;
    const bool above = below(zoom_, i);
    if (!above && !below(i, zoom_)) continue;
    const size_t from = above ? 0 : column_of(node.begin),
                 to = above ? columns : column_of(node.begin + node.time);
    const size_t row = node.depth - first_level_;
    if (to > from) boxes_.push_back({i, flame_ ? rows - 1 - row : row, from, to - from});
  }
}

Style FlameScreen::style_of(const Node& node) const {
  if (node.row == UINT32_MAX) return {};
  const view::Table& table = made_->tables.front();
  if (color_ == Color::kModule) {
    const std::string module = cell_of(table, node.row, "module");
    return {.ink = Ink(1 + std::hash<std::string>()(module) % (kInks - 1))};
  }
  const view::Bar* bar = color_ == Color::kBand ? bar_of(table, node.row) : nullptr;
  if (bar == nullptr) return {};
  const auto most = std::ranges::max_element(bar->parts);
  return *most == 0 ? Style{} : Style{.ink = band_ink(analyze::Band(most - bar->parts.begin()))};
}

std::string FlameScreen::full_name(uint32_t node) const {
  if (node == 0) return made_->filter.empty() ? "[all threads]" : "[all that passes the filter]";
  return cell_of(made_->tables.front(), nodes_[node].row, "function");
}

std::string FlameScreen::name_of(uint32_t node) const {
  if (node == 0) return full_name(0);
  const view::Table& table = made_->tables.front();
  for (const view::Column& column : table.columns) {
    if (!column.tree || column.narrow < 0) continue;
    if (const auto* text = std::get_if<std::string_view>(&table.row(nodes_[node].row)[size_t(column.narrow)]))
      return render::escape(*text);
  }
  return full_name(node);
}

void FlameScreen::draw_box(Pane& pane, const Box& box) const {
  Style style = style_of(nodes_[box.node]);
  style.bold = box.node == selected_;
  if (match_.given() && match_.matches(full_name(box.node))) style.underline = true;
  if (box.columns < 2) {
    pane.put(box.row, box.column, "|", style);
  } else {
    const size_t inside = box.columns - 2;
    std::string text;
    if (inside >= kLeastText) {
      const std::string share =
          fmt::format(" {}%", render::percent(part(nodes_[box.node].time, made_->ledger.whole().count)));
      const std::string name = name_of(box.node);
      text = name.size() + share.size() <= inside ? name + share : render::elide_name(name, inside);
    }
    pane.put(box.row, box.column, "[", style);
    pane.put(box.row, box.column + 1, text, style, inside);
    pane.put(box.row, box.column + box.columns - 1, "]", style);
  }
  if (box.node != selected_) return;
  style.reverse = true;
  pane.restyle(box.row, style, box.column, box.columns);
}

/// What the selected cell has no room for. Returns the rows used.
size_t FlameScreen::draw_details(Pane pane) const {
  const Node& node = nodes_[selected_];
  const uint64_t whole = made_->ledger.whole().count;
  pane.repeat(0, 0, pane.look().utf8 ? U'─' : U'-', pane.columns(), kDim);
  pane.put_name(1, 0, full_name(selected_), pane.columns(), kBold);
  const auto line = [&](size_t row, std::string_view label, uint64_t time, uint64_t other,
                        std::string_view of) {
    pane.put(row, 2,
             fmt::format("{:<6}{:>10}  {:>5}% of all {}  {:>5}% {}", label, render::time_text(time),
                         render::percent(part(time, whole)), workspace_.time_words(),
                         render::percent(part(time, other)), of));
  };
  line(2, "total", node.time, nodes_[node.parent].time, "of its parent");
  std::string largest;
  for (uint32_t child = node.first_child; child != 0; child = nodes_[child].next) {
    if (largest.size() < pane.columns())
      largest += fmt::format("   {} {}", name_of(child), render::time_text(nodes_[child].time));
  }
  const uint64_t self = node.row == UINT32_MAX ? 0 : number_of(made_->tables.front(), node.row, "self_ns");
  line(3, "self", self, node.time, "of its total");
  if (!largest.empty()) pane.put_name(4, 2, "calls" + largest, pane.columns() - 2);
  return kDetailRows;
}

void FlameScreen::draw(Pane pane) {
  refresh();
  if (!made_) {
    pane.put_name(0, 0, made_.error(), pane.columns());
    return;
  }
  const size_t details = pane.rows() > 2 * kDetailRows ? kDetailRows : 0;
  Pane cells = pane.below(0, pane.rows() - details);
  place(cells.rows(), cells.columns());
  for (const Box& box : boxes_) draw_box(cells, box);
  if (details > 0) draw_details(pane.below(cells.rows()));
}

/// The neighbour at the same depth, of the same parent if there is one, else the nearest beside it.
uint32_t FlameScreen::sibling(uint32_t node, bool before) const {
  uint32_t best = node;
  for (uint32_t i = 1; i < nodes_.size(); ++i) {
    if (nodes_[i].depth != nodes_[node].depth || i == node || !below(i, zoom_)) continue;
    const bool fits =
        before ? i < node && (best == node || i > best) : i > node && (best == node || i < best);
    if (fits) best = i;
  }
  return best;
}

bool FlameScreen::act(Action action) {
  const Node& node = nodes_[selected_];
  const bool towards_root = action == (flame_ ? Action::kDown : Action::kUp);
  switch (action) {
    case Action::kUp:
    case Action::kDown:
      if (towards_root)
        select(node.parent);
      else if (node.first_child != 0)
        select(node.first_child);
      return true;
    case Action::kLeft:
    case Action::kPreviousSibling:
      select(sibling(selected_, true));
      return true;
    case Action::kRight:
    case Action::kNextSibling:
      select(sibling(selected_, false));
      return true;
    case Action::kFirst:
      select(zoom_);
      return true;
    case Action::kOpen:
    case Action::kUnfold:
      zoom_ = selected_;
      return true;
    case Action::kFold:
      zoom_ = nodes_[zoom_].parent;
      return true;
    case Action::kEscape:
    case Action::kUndo:
      if (zoom_ == 0) return false;
      zoom_ = 0;
      return true;
    case Action::kInvert:
      flame_ = !flame_;
      return true;
    case Action::kColor:
      color_ = Color((uint8_t(color_) + 1) % 3);
      return true;
    case Action::kHottest:
      while (nodes_[selected_].first_child != 0) selected_ = nodes_[selected_].first_child;
      return true;
    default:
      return false;
  }
}

bool FlameScreen::click(Point at) {
  for (const Box& box : boxes_) {
    if (box.row != at.row || at.column < box.column || at.column >= box.column + box.columns) continue;
    return std::exchange(selected_, box.node) == box.node;
  }
  return false;
}

/// Cells stand by their time, which is theirs in all units.
bool FlameScreen::has_use(Action action) const {
  constexpr Action kNone[] = {Action::kKeep, Action::kOnlyThread, Action::kNextSort, Action::kUnits};
  return std::ranges::find(kNone, action) == std::end(kNone);
}

Subject FlameScreen::subject() const {
  const uint32_t row = nodes_.empty() ? UINT32_MAX : nodes_[selected_].row;
  return row == UINT32_MAX ? Subject{} : subject_of(made_->tables.front(), row);
}

Detail FlameScreen::detail() const {
  const uint32_t row = nodes_.empty() ? UINT32_MAX : nodes_[selected_].row;
  return row == UINT32_MAX ? Detail{} : detail_of(made_->tables.front(), row, workspace_.counted_words());
}

bool FlameScreen::search(const analyze::Pattern& pattern, Direction direction, bool again) {
  match_ = pattern;
  if (first_table() == nullptr) return false;
  const auto fits = [&](size_t node) { return pattern.matches(full_name(uint32_t(node))); };
  const auto found = next_match(nodes_.size(), selected_, direction, again, fits);
  if (!found) return false;
  selected_ = uint32_t(*found);
  if (!below(selected_, zoom_)) zoom_ = 0;
  return true;
}

std::function<void()> FlameScreen::way_back_in_view() {
  return [this, selected = selected_, zoom = zoom_, level = first_level_, match = match_] {
    selected_ = selected, zoom_ = zoom, first_level_ = level, match_ = match;
  };
}

}  // namespace varve::tui
