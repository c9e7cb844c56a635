// SPDX-License-Identifier: MIT
// HelpScreen: the table of keys. Context: viewer.
#pragma once

#include <string>
#include <vector>

#include "viewer/tui/screen.h"

namespace varve::tui {

class HelpScreen : public Screen {
 public:
  void draw(Pane pane) override;
  bool act(Action action) override;

 private:
  size_t top_ = 0, rows_ = 1, count_ = 0;
};

}  // namespace varve::tui
