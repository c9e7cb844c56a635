// SPDX-License-Identifier: MIT
// Runs an App on a terminal, or through a script of keys without one. Context: viewer.
#pragma once

#include <functional>

#include "viewer/tui/app.h"
#include "viewer/tui/terminal.h"

namespace varve::tui {

/// What else goes on while the user looks at screens.
struct Background {
  std::function<bool()>
      pending;                 // whether anything is still to come; then `look` is called ten times a second
  std::function<void()> look;  // may change what the app shows
};

/// Until the user quits (kQuit) or wants the profile read again (kReload).
Outcome run_on_terminal(App& app, Terminal& terminal, const Background& background);

/// The screen after the keys; those behind one that quits are not looked at.
Canvas run_script(App& app, Size size, const std::vector<Input>& script);

}  // namespace varve::tui
