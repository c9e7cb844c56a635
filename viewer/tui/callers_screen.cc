// SPDX-License-Identifier: MIT
// See callers_screen.h.
// Context: viewer.
#include "viewer/tui/callers_screen.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "viewer/tui/next_match.h"
#include "viewer/tui/row_words.h"

namespace varve::tui {
namespace {

constexpr size_t kMiddleRows = 4;  // heading, the function, other stacks, what was filtered out

}  // namespace

void CallersScreen::make() {
  // Better names of the same answer leave the cursor where it is.
  const bool anew = asked_anew(), stays = !anew && shown_ == chosen(path_.last());
  shown_ = chosen(path_.last());
  const Subject selected = stays ? subject() : Subject{};
  made_ = workspace_.make_of("callers", chosen(path_.last()));
  for (size_t i = 0; i < kParts; ++i)
    widgets_[i].set_table(made_ && i < made_->tables.size() ? &made_->tables[i] : nullptr, units_);
  TableWidget::align(widgets_);
  if (!stays || widgets_[active_].table() == nullptr) active_ = kMiddle;
  TableWidget& widget = widgets_[active_];
  for (const uint32_t row : widget.rows())
    if (stays && chosen(subject_of(*widget.table(), row)) == chosen(selected)) return widget.select(row);
}

void CallersScreen::refresh() {
  if (units_ != workspace_.units) {
    units_ = workspace_.units;
    for (TableWidget& widget : widgets_) widget.set_units(units_);
    TableWidget::align(widgets_);
  }
  if (!outdated()) return;
  if (path_.empty()) {
    // The hottest one, where nobody has chosen.
    const Subject hottest = workspace_.hottest_function();
    if (hottest.function.empty()) return;
    path_.go_to(hottest, workspace_.steps());
  }
  make();
}

bool CallersScreen::show(const Subject& subject) {
  if (subject.function.empty()) return false;
  path_.go_to(subject, workspace_.steps());
  make_again();
  return true;
}

/// Callers and callees share what the middle leaves, as they need it.
std::array<size_t, CallersScreen::kParts> CallersScreen::heights(size_t rows) const {
  const auto need = [&](size_t i) { return 1 + std::max<size_t>(1, widgets_[i].rows().size()); };
  const size_t middle = std::min(need(kMiddle), kMiddleRows);
  const size_t left = rows > middle + 2 ? rows - middle - 2 : 0;  // two lines between the parts
  const size_t above = std::min(need(0), std::max(left / 2, left - std::min(left, need(2))));
  return {above, middle, left - above};
}

void CallersScreen::draw(Pane pane) {
  refresh();
  if (!made_) {
    pane.put_name(0, 0, made_.error(), pane.columns());
    return;
  }
  const auto rows = heights(pane.rows());
  size_t at = 0;
  for (size_t i = 0; i < kParts; ++i) {
    if (i > 0) pane.repeat(at++, 0, workspace_.look.utf8 ? U'─' : U'-', pane.columns(), kDim);
    widgets_[i].set_active(i == active_);
    tops_[i] = at;
    widgets_[i].draw(pane.below(at, rows[i]));
    at += rows[i];
  }
}

/// To the next part where the cursor stands at the end of its own.
bool CallersScreen::step(Action action) {
  TableWidget& widget = widgets_[active_];
  const bool up = action == Action::kUp,
             end = up ? widget.cursor() == 0 : widget.cursor() + 1 >= widget.rows().size();
  if (!end) return widget.act(action);
  for (size_t next = active_; up ? next-- > 0 : ++next < kParts;) {
    if (widgets_[next].rows().empty()) continue;
    active_ = next;
    widgets_[next].set_cursor(up ? SIZE_MAX : 0);
    break;
  }
  return true;
}

bool CallersScreen::open() {
  const Subject chosen = subject();
  if (active_ == kMiddle || chosen.function.empty() || chosen.function.starts_with('[')) return true;
  return show(chosen);
}

bool CallersScreen::act(Action action) {
  switch (action) {
    case Action::kUp:
    case Action::kDown:
      return step(action);
    case Action::kOpen:
      return open();
    case Action::kUndo:
      if (!path_.go_back(workspace_.steps())) return false;
      make_again();
      return true;
    default:
      return widgets_[active_].act(action);
  }
}

bool CallersScreen::click(Point at) {
  for (size_t i = kParts; i-- > 0;) {
    if (at.row < tops_[i]) continue;
    const bool again = widgets_[i].click({at.row - tops_[i], at.column});
    return std::exchange(active_, i) == i && again;
  }
  return false;
}

Subject CallersScreen::subject() const {
  const auto row = widgets_[active_].selected();
  return row ? subject_of(*widgets_[active_].table(), *row) : Subject{};
}

Detail CallersScreen::detail() const {
  const auto row = widgets_[active_].selected();
  return row ? detail_of(*widgets_[active_].table(), *row, workspace_.counted_words()) : Detail{};
}

bool CallersScreen::search(const analyze::Pattern& pattern, Direction direction, bool again) {
  // Through the parts as if they were one list.
  std::vector<std::pair<size_t, size_t>> places;  // a part and a row in it
  size_t from = 0;
  for (size_t part = 0; part < kParts; ++part) {
    if (part == active_) from = places.size() + widgets_[part].cursor();
    for (size_t row = 0; row < widgets_[part].rows().size(); ++row) places.emplace_back(part, row);
    widgets_[part].set_match(pattern);
  }
  const auto fits = [&](size_t place) {
    const auto [part, row] = places[place];
    return widgets_[part].matches(pattern, widgets_[part].rows()[row]);
  };
  const auto found = next_match(places.size(), from, direction, again, fits);
  if (!found) return false;
  active_ = places[*found].first;
  widgets_[active_].set_cursor(places[*found].second);
  return true;
}

/// Its order is that of the view, and a function without its callers would be no answer.
bool CallersScreen::has_use(Action action) const {
  return action != Action::kKeep && action != Action::kNextSort && action != Action::kOnlyThread;
}

std::function<void()> CallersScreen::way_back_in_view() {
  std::array<std::function<void()>, kParts> backs;
  for (size_t i = 0; i < kParts; ++i) backs[i] = widgets_[i].way_back();
  return [this, active = active_, backs = std::move(backs)] {
    active_ = active;
    for (const auto& back : backs) back();
  };
}

}  // namespace varve::tui
