// SPDX-License-Identifier: MIT
// Where a search goes on: the one walk through rows that lists, trees, cells and texts share. Context:
// viewer.
#pragma once

#include <cstddef>
#include <optional>

#include "viewer/tui/units.h"

namespace varve::tui {

/// The nearest of `count` rows that fits(row), from `from` on, round and round; `again`: not that one, unless
/// it is the only one. Nothing: none fits.
template <typename Fits>
std::optional<size_t> next_match(size_t count, size_t from, Direction direction, bool again, Fits fits) {
  for (size_t i = again ? 1 : 0; i < count + (again ? 1 : 0); ++i) {
    const size_t step = i % count;
    const size_t at = (direction == Direction::kForward ? from + step : from + count - step) % count;
    if (fits(at)) return at;
  }
  return std::nullopt;
}

}  // namespace varve::tui
