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
  /// It is about no profile.
  bool has_use(Action action) const override { return action == Action::kBack; }

 private:
  size_t top_ = 0, rows_ = 1, count_ = 0;
};

}  // namespace varve::tui
