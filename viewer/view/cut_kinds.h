// SPDX-License-Identifier: MIT
// Rows that a limit cut, by what they are: a thousand files of a millisecond each are the reason of a second,
// and no row of its own says so. Context: viewer.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "viewer/view/rows.h"

namespace varve::view {

struct CutKind {
  std::string label;  // "[1200 other files]"
  std::vector<size_t> rows;
};

/// What rows from cut.kept on are, those of one kind together where together they are of the size that has a
/// row; the rest of them last, as `one` or `many`. The largest kind first; empty: nothing was cut. `kind_of`
/// of a row says what it is with others of its kind; empty words: nothing in particular.
std::vector<CutKind> cut_kinds(const Cut& cut, const std::vector<uint64_t>& sizes, uint64_t whole,
                               const Request& request, std::string_view one, std::string_view many,
                               const std::function<std::string_view(size_t)>& kind_of);

}  // namespace varve::view
