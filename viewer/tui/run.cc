// SPDX-License-Identifier: MIT
// See run.h.
// Context: viewer.
#include "viewer/tui/run.h"

namespace varve::tui {

Outcome run_on_terminal(App& app, Terminal& terminal, const Background& background) {
  terminal.show(app.draw(terminal.size()));
  for (;;) {
    terminal.set_mouse(app.mouse());
    const bool busy = background.pending();
    const Input input = terminal.read(busy);
    if (busy) background.look();
    if (input.kind == Input::Kind::kNothing && !busy) continue;
    const Outcome outcome = app.handle(input);
    if (outcome == Outcome::kQuit || outcome == Outcome::kReload) return outcome;
    if (outcome == Outcome::kSuspend) terminal.suspend();
    if (outcome == Outcome::kRedraw) terminal.redraw();
    terminal.show(app.draw(terminal.size()));
  }
}

Canvas run_script(App& app, Size size, const std::vector<Input>& script) {
  Canvas canvas = app.draw(size);
  for (const Input& input : script) {
    if (input.kind == Input::Kind::kResize) size = input.size;
    const Outcome outcome = app.handle(input);
    canvas = app.draw(size);
    if (outcome == Outcome::kQuit) break;
  }
  return canvas;
}

}  // namespace varve::tui
