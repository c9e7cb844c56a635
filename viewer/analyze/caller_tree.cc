// SPDX-License-Identifier: MIT
// The caller tree: a cursor starts at the innermost frame of a path with time of its own and goes from frame
// to frame towards the root. Context: viewer.
#include <optional>

#include "viewer/analyze/call_tree.h"
#include "viewer/analyze/site_keys.h"
#include "viewer/analyze/tree_grower.h"

namespace varve::analyze {
namespace {

/// Nothing if the tree would be larger than `most_nodes`.
std::optional<FunctionTree> grow(const load::Profile& profile, const symbol::SymbolTable& symbols,
                                 const PathTimes& by_path, bool inlines, uint64_t threshold,
                                 size_t most_nodes) {
  TreeGrower grower(symbols.functions.size(), by_path.width(), threshold);
  grower.tell_inlined_apart(false);
  const auto frames = [&](uint32_t path) {
    return counted_frames(symbols, profile.paths[path].site, inlines);
  };
  const auto emit = [&](const Cursor& cursor) {
    const symbol::Frame& frame = frames(cursor.path)[cursor.level];
    grower.emit(cursor, frame.function, inlines && frame.inlined, by_path.row(cursor.origin));
  };

  grower.begin(0);
  by_path.for_each([&](uint32_t path, std::span<const uint64_t> numbers) {
    if (path == 0) {
      grower.emit({0, 0, 0}, FunctionId::none(), false, numbers);
    } else {
      emit({path, 0, path});
    }
  });
  grower.end();

  uint32_t node = 0;
  std::vector<Cursor> cursors;
  while (grower.next(node, cursors)) {
    grower.begin(node);
    for (const Cursor& cursor : cursors) {
      if (cursor.path == 0) continue;
      if (cursor.level + 1 < frames(cursor.path).size()) {
        emit({cursor.path, cursor.level + 1, cursor.origin});
      } else if (const uint32_t caller = profile.paths[cursor.path].parent.value; caller != 0) {
        emit({caller, 0, cursor.origin});
      }
    }
    grower.end();
    if (grower.nodes() > most_nodes) return std::nullopt;
  }
  return grower.finish();
}

}  // namespace

FunctionTree caller_tree(const load::Profile& profile, const symbol::SymbolTable& symbols,
                         const PathTimes& by_path, bool inlines, uint64_t threshold, size_t most_nodes) {
  std::optional<FunctionTree> tree;
  while (!(tree = grow(profile, symbols, by_path, inlines, threshold, most_nodes))) {
    threshold = raised_threshold(threshold, by_path.sum()[kCpu]);
  }
  for (uint32_t i = 1; i < tree->nodes.size(); ++i) {
    if (tree->nodes[i].depth == 1) tree->self.add(i, tree->total, i);
  }
  return std::move(*tree);
}

}  // namespace varve::analyze
