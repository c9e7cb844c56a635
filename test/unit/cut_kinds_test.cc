// SPDX-License-Identifier: MIT
// What a limit cut, by kind: each row once, and a row for a kind only where it is worth one. Context: tests.
#include <criterion/criterion.h>
#include <fmt/format.h>

#include "viewer/view/cut_kinds.h"

using namespace varve;

namespace {

/// "[2 other files] 70, [1 other object] 5": labels with the sums of their rows.
std::string cut(const std::vector<std::pair<uint64_t, std::string>>& rows, double min_share) {
  std::vector<uint64_t> sizes;
  for (const auto& [size, _] : rows) sizes.push_back(size);
  view::Request request;
  request.min_share = min_share;
  const uint64_t whole = 1000;
  std::string words;
  for (const view::CutKind& kind :
       view::cut_kinds(view::cut_list(sizes, whole, request), sizes, whole, request, "object", "objects",
                       [&](size_t row) { return std::string_view(rows[row].second); })) {
    uint64_t sum = 0;
    for (const size_t row : kind.rows) sum += sizes[row];
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", kind.label, sum);
  }
  return words;
}

void expect_cut(const std::string& got, const char* wanted) { cr_expect(got == wanted, "%s", got.c_str()); }

Test(cut_kinds, many_small_ones_of_a_kind_have_a_row) {
  const std::vector<std::pair<uint64_t, std::string>> rows = {{500, "locks"}, {90, "files"}, {80, "pipes"},
                                                              {70, "files"},  {20, "pipes"}, {10, "locks"},
                                                              {5, "locks"}};
  expect_cut(cut(rows, 0.1), "[2 other files] 160, [2 other pipes] 100, [2 other objects] 15");
  expect_cut(cut(rows, 0.15), "[2 other files] 160, [4 other objects] 115");
  expect_cut(cut(rows, 0), "");
}

Test(cut_kinds, one_of_a_kind_is_none) {
  expect_cut(cut({{500, "locks"}, {90, "files"}}, 0.1), "[1 other object] 90");
  expect_cut(cut({{500, ""}, {90, ""}, {80, ""}}, 0.1), "[2 other objects] 170");
}

}  // namespace
