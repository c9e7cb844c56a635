// SPDX-License-Identifier: MIT
// See help_screen.h.
// Context: viewer.
#include "viewer/tui/help_screen.h"

#include <algorithm>

#include "viewer/tui/scroll.h"

namespace varve::tui {
namespace {

constexpr size_t kKeys = 13;      // columns of keys
constexpr size_t kCommands = 18;  // of commands, where there is room

struct Line {
  const Binding* binding = nullptr;  // null: a heading, or nothing
  const char* heading = "";
};

std::vector<Line> lines() {
  std::vector<Line> result;
  const char* group = nullptr;
  for (const Binding& binding : bindings()) {
    if (group != binding.group) {
      if (group != nullptr) result.push_back({});
      result.push_back({nullptr, group = binding.group});
    }
    result.push_back({&binding, ""});
  }
  return result;
}

}  // namespace

void HelpScreen::draw(Pane pane) {
  const std::vector<Line> all = lines();
  rows_ = pane.rows();
  count_ = all.size();
  top_ = std::min(top_, count_ > rows_ ? count_ - rows_ : 0);
  const bool wide = pane.columns() >= 100;
  for (size_t i = 0; i < rows_ && top_ + i < count_; ++i) {
    const Line& line = all[top_ + i];
    pane.put(i, 0, line.heading, kHeading);
    if (line.binding == nullptr) continue;
    pane.put(i, 1, keys_text(*line.binding), kBold, kKeys - 1);
    if (wide) pane.put(i, 1 + kKeys, std::string(":") + line.binding->command, kDim, kCommands);
    pane.put(i, 1 + kKeys + (wide ? kCommands : 0), line.binding->help);
  }
}

bool HelpScreen::act(Action action) { return scroll(action, rows_, count_, top_); }

}  // namespace varve::tui
