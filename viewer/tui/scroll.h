// SPDX-License-Identifier: MIT
// Moves of a cursor or of a page, the same everywhere. Context: viewer.
#pragma once

#include <algorithm>
#include <cstddef>

#include "viewer/tui/keymap.h"

namespace varve::tui {

/// Moves `at` within `count` rows of which `page` are on the screen. False: the action is something else.
inline bool scroll(Action action, size_t page, size_t count, size_t& at) {
  const auto rows = ptrdiff_t(std::max<size_t>(page, 2)), last = ptrdiff_t(count == 0 ? 0 : count - 1);
  struct Step {
    Action action;
    ptrdiff_t rows;
  };
  const Step steps[] = {
      {Action::kUp, -1},
      {Action::kDown, 1},
      {Action::kPageUp, 1 - rows},
      {Action::kPageDown, rows - 1},
      {Action::kMark, rows - 1},
      {Action::kHalfUp, -rows / 2},
      {Action::kHalfDown, rows / 2},
      {Action::kFirst, -last},
      {Action::kLast, last},
  };
  for (const Step& step : steps) {
    if (step.action != action) continue;
    at = size_t(std::clamp(ptrdiff_t(at) + step.rows, ptrdiff_t(0), last));
    return true;
  }
  return false;
}

}  // namespace varve::tui
