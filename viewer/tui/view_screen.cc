// SPDX-License-Identifier: MIT
// See view_screen.h.
// Context: viewer.
#include "viewer/tui/view_screen.h"

#include "viewer/tui/row_words.h"

namespace varve::tui {

void TableScreen::draw(Pane pane) {
  refresh();
  if (made_)
    widget_.draw(pane);
  else
    pane.put_name(0, 0, made_.error(), pane.columns());
}

Subject TableScreen::subject() const {
  const auto row = widget_.selected();
  return row ? subject_of(*widget_.table(), *row) : Subject{};
}

Detail TableScreen::detail() const {
  const auto row = widget_.selected();
  return row ? detail_of(*widget_.table(), *row) : Detail{};
}

}  // namespace varve::tui
