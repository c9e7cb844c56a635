// SPDX-License-Identifier: MIT
// See run.h.
// Context: viewer.
#include "viewer/tui/run.h"

namespace varve::tui {

Outcome run_on_terminal(App& app, Terminal& terminal, const Background& background) {
  // What a screen asks for while it is drawn may be there at once.
  const auto draw = [&] {
    Canvas canvas = app.draw(terminal.size());
    if (background.pending()) {
      background.look();
      canvas = app.draw(terminal.size());
    }
    terminal.show(canvas);
  };
  draw();
  for (;;) {
    terminal.set_mouse(app.mouse());
    const bool busy = background.pending();
    const Input input = terminal.read(busy);
    if (input.kind == Input::Kind::kNothing && !busy) continue;
    const Outcome outcome = app.handle(input);
    if (outcome == Outcome::kQuit || outcome == Outcome::kReload) return outcome;
    if (outcome == Outcome::kSuspend) terminal.suspend();
    if (outcome == Outcome::kRedraw) terminal.redraw();
    draw();
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
