// SPDX-License-Identifier: MIT
// See help_screen.h.
// Context: viewer.
#include "viewer/tui/help_screen.h"

#include <algorithm>
#include <utility>

#include "viewer/render/wrap.h"
#include "viewer/tui/scroll.h"

namespace varve::tui {
namespace {

constexpr size_t kKeys = 13;      // columns of keys
constexpr size_t kCommands = 18;  // of commands, where there is room

/// One row of the screen.
struct Line {
  const Binding* binding = nullptr;  // of its first row; null: a heading, nothing, or more of a help
  std::string heading = {}, help = {};
};

std::vector<Line> lines(size_t help_columns) {
  std::vector<Line> result;
  const char* group = nullptr;
  for (const Binding& binding : bindings()) {
    if (group != binding.group) {
      if (group != nullptr) result.push_back({});
      result.push_back({.heading = group = binding.group});
    }
    const Binding* first = &binding;
    for (std::string& help : render::wrap_words(binding.help, help_columns))
      result.push_back({.binding = std::exchange(first, nullptr), .help = std::move(help)});
  }
  return result;
}

}  // namespace

void HelpScreen::draw(Pane pane) {
  const bool wide = pane.columns() >= 100;
  const size_t help_at = 1 + kKeys + (wide ? kCommands : 0);
  const std::vector<Line> all = lines(pane.columns() - std::min(pane.columns(), help_at));
  rows_ = pane.rows();
  count_ = all.size();
  top_ = std::min(top_, count_ > rows_ ? count_ - rows_ : 0);
  for (size_t i = 0; i < rows_ && top_ + i < count_; ++i) {
    const Line& line = all[top_ + i];
    pane.put(i, 0, line.heading, kHeading);
    pane.put(i, help_at, line.help);
    if (line.binding == nullptr) continue;
    pane.put(i, 1, keys_text(*line.binding), kBold, kKeys - 1);
    if (wide) pane.put(i, 1 + kKeys, std::string(":") + line.binding->command, kDim, kCommands);
  }
}

/// Nothing is hidden at the sides, but who looks for it there has not read to the end.
bool HelpScreen::act(Action action) {
  return scroll(action, rows_, count_, top_) || action == Action::kLeft || action == Action::kRight;
}

}  // namespace varve::tui
