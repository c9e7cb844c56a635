// SPDX-License-Identifier: MIT
// "Did you mean": the nearest of many names, of options, views and functions. Context: viewer.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace varve::analyze {

/// The name nearest to `word` if it is near enough to be a slip of the finger (Damerau-Levenshtein distance
/// at most a third of the length), else empty.
std::string_view nearest_name(std::string_view word, std::span<const std::string> names);

}  // namespace varve::analyze
