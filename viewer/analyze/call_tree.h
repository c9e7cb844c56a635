// SPDX-License-Identifier: MIT
// CallTree: who called whom, by function. The tree of call paths with all addresses of one function under one
// parent folded into one node, and inlined calls as nodes of their own. CallerTree is the same from the other
// end: the functions by self time, and below each who called it there. Context: viewer.
#pragma once

#include <cstdint>
#include <vector>

#include "viewer/analyze/metrics.h"
#include "viewer/load/profile.h"
#include "viewer/symbol/symbol_table.h"

namespace varve::analyze {

struct TreeNode {
  uint32_t parent = 0;
  FunctionId function;   // none: the root; also stacks without any frame
  uint32_t depth = 0;    // of the root 0
  bool inlined = false;  // into its parent (call tree); into each of its callers (caller tree)
};

/// Node 0 is the root and has everything; parents stand before children.
struct FunctionTree {
  std::vector<TreeNode> nodes;
  MetricTable self;   // time that ends in this node
  MetricTable total;  // time of the node and everything below it
};

/// Sums of `self` over all nodes: the selection. Linear in paths and frames.
FunctionTree call_tree(const load::Profile& profile, const symbol::SymbolTable& symbols,
                       const MetricTable& by_path, bool inlines);

/// Depth 1: every function with self time. A node below stands for the part of that time which passed through
/// this chain of callers: it is `total`, and `self` is zero there, since a caller executes nothing. Chains
/// are followed only below nodes of at least `threshold` ns; so `self` always adds up to the selection.
FunctionTree caller_tree(const FunctionTree& calls, size_t function_count, uint64_t threshold);

}  // namespace varve::analyze
