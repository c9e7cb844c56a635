// SPDX-License-Identifier: MIT
// Draws tree lines from depths alone.
// Context: viewer.
#include "viewer/render/tree_lines.h"

#include <fmt/format.h>

#include <algorithm>

namespace varve::render {
namespace {

struct Glyphs {
  const char *fork, *last, *bar, *gap;
};
constexpr Glyphs kUtf8Glyphs = {"├─ ", "└─ ", "│  ", "   "};
constexpr Glyphs kAsciiGlyphs = {"|- ", "`- ", "|  ", "   "};

struct Family {
  bool only_child = true;  // no brother or sister is shown
  bool last = true;        // none after it
};

/// What is drawn for a row in the lines of all rows below it.
struct Branch {
  uint32_t depth;
  const char* glyph;
};

/// Sums stand below the tree and are no part of it.
bool in_tree(const view::Row& row) {
  return row.kind != view::RowKind::kRest && row.kind != view::RowKind::kFilteredOut;
}

/// In one pass from the end: whether a row has siblings after it; in one from the start: before it.
std::vector<Family> families(const std::vector<view::Row>& rows) {
  std::vector<Family> result(rows.size());
  std::vector<bool> seen;
  const auto meets = [&](size_t i) {
    const uint32_t depth = rows[i].depth;
    const bool sibling = depth < seen.size() && seen[depth];
    seen.resize(depth + 1);
    seen[depth] = true;
    return sibling;
  };
  for (size_t i = rows.size(); i-- > 0;) {
    if (in_tree(rows[i]) && meets(i)) result[i] = {false, false};
  }
  seen.clear();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (in_tree(rows[i]) && meets(i)) result[i].only_child = false;
  }
  return result;
}

}  // namespace

std::vector<std::string> tree_lines(const std::vector<view::Row>& rows, Charset charset, size_t most) {
  const Glyphs& glyphs = charset == Charset::kUtf8 ? kUtf8Glyphs : kAsciiGlyphs;
  const std::vector<Family> family = families(rows);
  std::vector<std::string> lines(rows.size());
  std::vector<Branch> above;  // of the row: its parents that are no only children
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!in_tree(rows[i])) continue;
    while (!above.empty() && above.back().depth >= rows[i].depth) above.pop_back();
    const size_t drawn = above.size() + !family[i].only_child, skip = drawn - std::min(drawn, most);
    if (skip != 0) lines[i] = fmt::format("+{} ", skip);
    for (size_t j = skip; j < above.size(); ++j) lines[i] += above[j].glyph;
    if (family[i].only_child) continue;
    if (skip < drawn) lines[i] += family[i].last ? glyphs.last : glyphs.fork;
    above.push_back({rows[i].depth, family[i].last ? glyphs.gap : glyphs.bar});
  }
  return lines;
}

}  // namespace varve::render
