// SPDX-License-Identifier: MIT
// See facts_screen.h.
// Context: viewer.
#include "viewer/tui/facts_screen.h"

#include <algorithm>

#include "viewer/render/cells.h"
#include "viewer/render/escape.h"
#include "viewer/render/wrap.h"

namespace varve::tui {

/// The list keeps half of a small screen.
void FactsScreen::draw(Pane pane) {
  refresh();
  const auto charset = pane.look().utf8 ? render::Charset::kUtf8 : render::Charset::kAscii;
  size_t labels = 0, row = 0;
  const size_t most = pane.rows() / 2;
  if (made_)
    for (const view::Fact& fact : made_->facts) labels = std::max(labels, fact.label.size() + 2);
  const auto put = [&](std::string_view label, const std::string& words) {
    if (row < most) pane.put(row, 0, label, kBold);
    const size_t at = label.empty() ? 0 : labels;
    for (const std::string& line : render::wrap_words(words, pane.columns() - std::min(pane.columns(), at)))
      if (row < most) pane.put(row++, at, line);
  };
  if (made_)
    for (const view::Fact& fact : made_->facts)
      if (!fact.label.empty()) put(fact.label, render::cell_text(fact.value, fact.unit, charset));
  // Where there is no list the notes say why.
  if (made_ && first_table() == nullptr)
    for (const std::string& note : made_->notes) put("", render::escape(note, charset));
  list_at_ = row == 0 ? 0 : row + 1;
  ListScreen::draw(pane.below(list_at_));
}

}  // namespace varve::tui
