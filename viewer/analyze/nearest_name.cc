// SPDX-License-Identifier: MIT
// Edit distances. See nearest_name.h.
// Context: viewer.
#include "viewer/analyze/nearest_name.h"

#include <algorithm>
#include <vector>

namespace varve::analyze {
namespace {

/// Damerau-Levenshtein distance with adjacent transpositions, in single edits.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}
}  // namespace

std::string_view nearest_name(std::string_view word, std::span<const std::string> names) {
  if (word.size() > 100) return {};
  std::string_view best;
  size_t best_distance = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& name : names) {
    const bool begins = word.size() >= 4 && name.starts_with(word);
    const size_t distance = begins ? 1 : edit_distance(word, name);
    if (distance < best_distance) best_distance = distance, best = name;
  }
  return best;
}

}  // namespace varve::analyze
