// SPDX-License-Identifier: MIT
// See waiting.h.
// Context: viewer.
#include "viewer/tui/waiting.h"

#include "viewer/tui/keymap.h"

namespace varve::tui {

Canvas draw_waiting(Size size, const Look& look, const WaitingWords& words) {
  Canvas canvas(size, look);
  Pane all = canvas.whole();
  all.put_name(0, 0, words.title, size.columns, kHeading);
  all.put_name(2, 0, words.progress, size.columns);
  if (size.rows > 0) all.put(size.rows - 1, 0, "q Quit", kDim);
  return canvas;
}

bool wait_on_terminal(Terminal& terminal, const Look& look, const std::function<WaitingWords()>& words,
                      const std::function<bool()>& done) {
  while (!done()) {
    terminal.show(draw_waiting(terminal.size(), look, words()));
    const Input input = terminal.read(true);
    if (input.kind == Input::Kind::kQuit) return false;
    if (input.kind != Input::Kind::kKey) continue;
    const Action action = action_of(input.key);
    if (action == Action::kQuit || action == Action::kBack) return false;
    if (action == Action::kSuspend) terminal.suspend();
    if (action == Action::kRedraw) terminal.redraw();
  }
  return true;
}

}  // namespace varve::tui
