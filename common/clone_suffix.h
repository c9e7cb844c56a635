// SPDX-License-Identifier: MIT
// What compilers put behind the names of instances of a function: "parse.isra.0", "parse.cold". Here since
// both those who make names and those who draw them ask, and these know nothing of symbols. Context: viewer.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace varve {

/// `word`: what stands between two points.
inline bool is_clone_suffix(std::string_view word) {
  constexpr std::string_view kSuffixes[] = {"isra", "constprop", "part", "cold", "lto_priv", "llvm"};
  return word.find_first_not_of("0123456789") == std::string_view::npos ||
         std::ranges::find(kSuffixes, word) != std::end(kSuffixes);
}

}  // namespace varve
