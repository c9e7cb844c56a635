// SPDX-License-Identifier: MIT
// Which columns of a table stand in a given width, and how wide: names give way first, but not below a width
// at which they can be told apart; then columns that can be spared go, in their order. Context: viewer.
#pragma once

#include <cstddef>
#include <vector>

namespace varve::render {

inline constexpr size_t kColumnGap = 2;

struct ColumnNeed {
  size_t width = 0;      // with all of its texts whole
  size_t least = 0;      // a number all of it, a name less
  int spare = 0;         // view::Column::spare
  bool elastic = false;  // may be narrower than `width`
};

/// A width a column, 0 for one that is left out; the last one always stands. Where even the least is too much
/// the last column has what there is.
std::vector<size_t> fit_columns(const std::vector<ColumnNeed>& needs, size_t room);

/// The least that a name of `width` columns should have in a line of `room`: much for the last column, which
/// says what a row is about, and more for one that stands behind the branches of a tree.
size_t least_name(size_t width, size_t room, bool last, bool tree);

}  // namespace varve::render
