// SPDX-License-Identifier: MIT
// Builds the call tree from the tree of paths: every path lands on the node of its innermost frame.
// Context: viewer.
#include "viewer/analyze/call_tree.h"

#include "viewer/analyze/pair_map.h"
#include "viewer/analyze/site_keys.h"

namespace varve::analyze {
namespace {

class Builder {
 public:
  explicit Builder(size_t width) : tree_{{TreeNode{}}, MetricTable(1, width), MetricTable()} {}

  uint32_t child(uint32_t parent, FunctionId function, bool inlined) {
    // Functions are at most 2^31: one bit tells an inlined copy from the function itself.
    const uint32_t key = function.value << 1 | uint32_t(inlined);
    const uint32_t node = children_.find_or_add(parent, key, uint32_t(tree_.nodes.size()));
    if (node == tree_.nodes.size()) {
      tree_.nodes.push_back({parent, function, tree_.nodes[parent].depth + 1, inlined});
      tree_.self.append();
    }
    return node;
  }

  void add_self(uint32_t node, const MetricTable& by_path, size_t path) {
    tree_.self.add(node, by_path, path);
  }

  FunctionTree finish() {
    tree_.total = tree_.self;
    for (size_t i = tree_.nodes.size(); i-- > 1;) tree_.total.add(tree_.nodes[i].parent, tree_.total, i);
    return std::move(tree_);
  }

 private:
  FunctionTree tree_;
  PairMap children_;
};

/// Whether any time is at or below each path; the others need no node.
std::vector<bool> paths_with_time(const std::vector<load::Path>& paths, const MetricTable& by_path) {
  std::vector<bool> used(paths.size());
  for (size_t i = paths.size(); i-- > 1;) {
    if (!used[i]) used[i] = !by_path.zero(i);
    if (used[i]) used[paths[i].parent.index()] = true;
  }
  return used;
}

}  // namespace

FunctionTree call_tree(const load::Profile& profile, const symbol::SymbolTable& symbols,
                       const MetricTable& by_path, bool inlines) {
  Builder builder(by_path.width());
  const std::vector<bool> used = paths_with_time(profile.paths, by_path);
  std::vector<uint32_t> node_of(profile.paths.size());
  if (!profile.paths.empty() && !by_path.zero(0)) {
    builder.add_self(builder.child(0, FunctionId::none(), false), by_path, 0);
  }
  for (size_t i = 1; i < profile.paths.size(); ++i) {
    if (!used[i]) continue;
    const load::Path& path = profile.paths[i];
    const auto frames = counted_frames(symbols, path.site, inlines);
    uint32_t node = node_of[path.parent.index()];
    for (size_t j = frames.size(); j-- > 0;) {
      node = builder.child(node, frames[j].function, inlines && frames[j].inlined);
    }
    node_of[i] = node;
    builder.add_self(node, by_path, i);
  }
  return builder.finish();
}

}  // namespace varve::analyze
