// SPDX-License-Identifier: MIT
// See facts_screen.h.
// Context: viewer.
#include "viewer/tui/facts_screen.h"

#include <algorithm>

#include "viewer/render/cells.h"
#include "viewer/render/wrap.h"

namespace varve::tui {

/// The list keeps half of a small screen.
void FactsScreen::draw(Pane pane) {
  refresh();
  const auto charset = pane.look().utf8 ? render::Charset::kUtf8 : render::Charset::kAscii;
  size_t labels = 0, row = 0;
  if (made_)
    for (const view::Fact& fact : made_->facts) labels = std::max(labels, fact.label.size() + 2);
  const size_t room = pane.columns() - std::min(pane.columns(), labels), most = pane.rows() / 2;
  if (made_)
    for (const view::Fact& fact : made_->facts) {
      if (fact.label.empty() || row >= most) continue;
      pane.put(row, 0, fact.label, kBold);
      for (const std::string& line :
           render::wrap_words(render::cell_text(fact.value, fact.unit, charset), room))
        if (row < most) pane.put(row++, labels, line);
    }
  list_at_ = row == 0 ? 0 : row + 1;
  ListScreen::draw(pane.below(list_at_));
}

}  // namespace varve::tui
