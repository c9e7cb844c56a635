// SPDX-License-Identifier: MIT
// See text_screen.h.
// Context: viewer.
#include "viewer/tui/text_screen.h"

#include <algorithm>
#include <sstream>

#include "viewer/render/render.h"
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
  for (size_t i = again ? 1 : 0; i < count + (again ? 1 : 0); ++i) {
    const size_t at = (direction == Direction::kForward ? from + i : from + 2 * count - i) % count;
    if (!pattern.matches(lines_[at])) continue;
    found_ = top_ = at;
    return true;
  }
  return false;
}

std::function<void()> TextScreen::way_back_in_view() {
  return [this, found = found_, top = top_, match = match_] { found_ = found, top_ = top, match_ = match; };
}

}  // namespace varve::tui
