// SPDX-License-Identifier: MIT
// See text_screen.h.
// Context: viewer.
#include "viewer/tui/text_screen.h"

#include <algorithm>
#include <sstream>

#include "viewer/render/render.h"
#include "viewer/tui/next_match.h"
#include "viewer/tui/scroll.h"

namespace varve::tui {

void TextScreen::refresh(size_t columns) {
  const bool due = outdated();
  if (!due && columns == columns_) return;
  if (due) made_ = workspace_.make(kind_);
  columns_ = columns;
  const auto charset = workspace_.look.utf8 ? render::Charset::kUtf8 : render::Charset::kAscii;
  std::istringstream text(made_ ? render::text(*made_, {columns, charset, false}) : made_.error());
  lines_.clear();
  for (std::string line; std::getline(text, line);) lines_.push_back(line);
}

void TextScreen::draw(Pane pane) {
  refresh(pane.columns());
  rows_ = pane.rows();
  top_ = std::min(top_, lines_.size() > rows_ ? lines_.size() - rows_ : 0);
  for (size_t i = 0; i < rows_ && top_ + i < lines_.size(); ++i) {
    const std::string& line = lines_[top_ + i];
    const bool hit = match_.given() && match_.matches(line);
    pane.put(i, 0, line, hit ? kHeading : kPlain);
  }
}

bool TextScreen::act(Action action) {
  if (!scroll(action, rows_, lines_.size(), top_)) return false;
  found_.reset();
  return true;
}

bool TextScreen::search(const analyze::Pattern& pattern, Direction direction, bool again) {
  match_ = pattern;
  const size_t count = lines_.size(), from = std::min(found_.value_or(top_), count);
  const auto fits = [&](size_t line) { return pattern.matches(lines_[line]); };
  const auto line = next_match(count, from, direction, again, fits);
  if (line) found_ = top_ = *line;
  return line.has_value();
}

/// It has lines and no rows.
bool TextScreen::has_use(Action action) const {
  constexpr Action kNone[] = {Action::kKeep,         Action::kOnlyThread, Action::kOnlyModule,
                              Action::kOnlyFunction, Action::kAnnotate,   Action::kNextSort,
                              Action::kUnits};
  return std::ranges::find(kNone, action) == std::end(kNone);
}

std::function<void()> TextScreen::way_back_in_view() {
  return [this, found = found_, top = top_, match = match_] { found_ = found, top_ = top, match_ = match; };
}

}  // namespace varve::tui
