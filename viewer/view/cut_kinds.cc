// SPDX-License-Identifier: MIT
// See cut_kinds.h.
// Context: viewer.
#include "viewer/view/cut_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace varve::view {
namespace {

struct OneKind {
  uint64_t size = 0;
  std::vector<size_t> rows;
};

}  // namespace

std::vector<CutKind> cut_kinds(const Cut& cut, const std::vector<uint64_t>& sizes, uint64_t whole,
                               const Request& request, std::string_view one, std::string_view many,
                               const std::function<std::string_view(size_t)>& kind_of) {
  std::map<std::string_view, OneKind> kinds;
  for (size_t row = cut.kept; row < sizes.size(); ++row) {
    OneKind& kind = kinds[kind_of(row)];
    kind.size += sizes[row];
    kind.rows.push_back(row);
  }
  const double least = request.min_share * double(whole);
  std::vector<std::pair<uint64_t, CutKind>> large;
  std::vector<size_t> others;
  for (auto& [words, kind] : kinds) {
    const bool own = !words.empty() && kind.rows.size() > 1 && double(kind.size) >= least;
    if (own)
      large.push_back({kind.size, {fmt::format("[{} other {}]", kind.rows.size(), words), kind.rows}});
    else
      others.insert(others.end(), kind.rows.begin(), kind.rows.end());
  }
  std::ranges::stable_sort(large, std::greater(), &std::pair<uint64_t, CutKind>::first);
  std::vector<CutKind> result;
  for (auto& [_, kind] : large) result.push_back(std::move(kind));
  if (!others.empty())
    result.push_back({fmt::format("[{}]", plural(others.size(), fmt::format("other {}", one),
                                                 fmt::format("other {}", many))),
                      std::move(others)});
  return result;
}

}  // namespace varve::view
