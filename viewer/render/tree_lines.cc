// SPDX-License-Identifier: MIT
// Draws tree lines from depths alone.
// Context: viewer.
#include "viewer/render/tree_lines.h"

#include <fmt/format.h>

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
  // By depth: the glyphs of the branches above, for what stands below a row of that depth.
  std::vector<std::vector<const char*>> below = {{}};
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!in_tree(rows[i])) continue;
    below.resize(rows[i].depth + 1);
    std::vector<const char*> glyphs_here = below.back();
    std::vector<const char*> glyphs_below = glyphs_here;
    if (!family[i].only_child) {
      glyphs_here.push_back(family[i].last ? glyphs.last : glyphs.fork);
      glyphs_below.push_back(family[i].last ? glyphs.gap : glyphs.bar);
    }
    size_t skip = 0;
    if (glyphs_here.size() > most) {
      skip = glyphs_here.size() - most;
      lines[i] = fmt::format("+{} ", skip);
    }
    for (size_t j = skip; j < glyphs_here.size(); ++j) lines[i] += glyphs_here[j];
    below.push_back(std::move(glyphs_below));
  }
  return lines;
}

}  // namespace varve::render
