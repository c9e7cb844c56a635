// SPDX-License-Identifier: MIT
// Lines in front of the names of a tree. Context: tests.
#include "viewer/render/tree_lines.h"

#include <criterion/criterion.h>

#include <string>
#include <vector>

using namespace varve;
using namespace varve::render;

Test(tree_lines, only_branches_are_indented) {
  // a(b(c d(e)) f) g
  const std::vector<view::Row> rows = {
      {0, {}, false}, {1, {}, false}, {2, {}, false}, {2, {}, false},
      {3, {}, false}, {1, {}, false}, {0, {}, false}, {0, view::RowKind::kRest, false}};
  const std::vector<std::string> wanted = {"|- ",       "|  |- ", "|  |  |- ", "|  |  `- ",
                                           "|  |     ", "|  `- ", "`- ",       ""};
  cr_expect(tree_lines(rows, Charset::kAscii, 40) == wanted);
  const std::vector<std::string> utf8 = tree_lines(rows, Charset::kUtf8, 40);
  cr_expect_eq(utf8[3], "│  │  └─ ");
  const std::vector<std::string> folded = tree_lines(rows, Charset::kAscii, 2);
  cr_expect_eq(folded[3], "+1 |  `- ");
}

Test(tree_lines, a_deep_chain_is_a_column) {
  std::vector<view::Row> rows;
  for (uint32_t i = 0; i < 4000; ++i) rows.push_back({i, {}, false});
  for (const std::string& line : tree_lines(rows, Charset::kUtf8, 40)) cr_expect(line.empty());
}

/// As deep as a forged profile may say: what is kept of a row is not all that stands above it.
Test(tree_lines, a_deep_tree_of_pairs) {
  constexpr uint32_t kDeep = 200'000;
  std::vector<view::Row> rows;
  for (uint32_t i = 0; i < kDeep; ++i) rows.push_back({i, {}, false});
  for (uint32_t i = kDeep; i-- > 0;) rows.push_back({i, {}, false});
  const std::vector<std::string> lines = tree_lines(rows, Charset::kAscii, 2);
  cr_expect_eq(lines[0], "|- ");
  cr_expect_eq(lines[kDeep - 1], "+199998 |  |- ");
  cr_expect_eq(lines[kDeep], "+199998 |  `- ");
  cr_expect_eq(lines.back(), "`- ");
}
