// SPDX-License-Identifier: MIT
// What is on the screen while a large profile is read. Context: viewer.
#pragma once

#include <functional>
#include <string>

#include "viewer/tui/terminal.h"

namespace varve::tui {

struct WaitingWords {
  std::string title;  // of the profile
  std::string progress;
};

Canvas draw_waiting(Size size, const Look& look, const WaitingWords& words);

/// Shows it until `done`, which is asked often. False: the user does not want to wait.
bool wait_on_terminal(Terminal& terminal, const Look& look, const std::function<WaitingWords()>& words,
                      const std::function<bool()>& done);

}  // namespace varve::tui
