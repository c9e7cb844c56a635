// SPDX-License-Identifier: MIT
// CallTree: who called whom, by function. The tree of call paths with all addresses of one function under one
// parent folded into one node, and inlined calls as nodes of their own. The caller tree is the same from the
// other end: the functions by self time, and below each who called it there. Context: viewer.
#pragma once

#include <cstdint>
#include <vector>

#include "viewer/analyze/metrics.h"
#include "viewer/analyze/path_times.h"
#include "viewer/load/profile.h"
#include "viewer/symbol/symbol_table.h"

namespace varve::analyze {

struct TreeNode {
  uint32_t parent = 0;
  FunctionId function;   // none: the root; also stacks without any frame
  uint32_t depth = 0;    // of the root 0
  bool inlined = false;  // into its parent (call tree); into its callers, all of them (caller tree)
};

/// Node 0 is the root and has everything; parents stand before children.
struct FunctionTree {
  std::vector<TreeNode> nodes;
  MetricTable self;        // time that ends in this node
  MetricTable total;       // time of the node and everything below it
  uint64_t threshold = 0;  // ns: the one asked for, or the larger one that kept the tree within the limit
};

/// The tree of callers of ten million unlike stacks has a billion nodes, which no machine holds and nobody
/// reads. Beyond this number the threshold is raised until the tree is smaller.
inline constexpr size_t kMostTreeNodes = 2'000'000;

/// Nodes with a total below `threshold` ns are leaves: what is below them is not looked at, and their self is
/// zero. With threshold 0 the sum of `self` over all nodes is that of `by_path`.
FunctionTree call_tree(const load::Profile& profile, const symbol::SymbolTable& symbols,
                       const PathTimes& by_path, bool inlines, uint64_t threshold,
                       size_t most_nodes = kMostTreeNodes);

/// Depth 1: every function with self time. A node below stands for the part of that time which passed through
/// this chain of callers: it is `total`, and `self` is zero there, since a caller executes nothing. Chains
/// are followed only below nodes of at least `threshold` ns; `self` adds up to `by_path` whatever it is.
FunctionTree caller_tree(const load::Profile& profile, const symbol::SymbolTable& symbols,
                         const PathTimes& by_path, bool inlines, uint64_t threshold,
                         size_t most_nodes = kMostTreeNodes);

}  // namespace varve::analyze
