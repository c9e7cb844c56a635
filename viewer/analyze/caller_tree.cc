// SPDX-License-Identifier: MIT
// Builds the caller tree: a node holds a list of cursors into the call tree, one a place where its function
// ended a stack; its children are these cursors moved one caller up and grouped by function. Context: viewer.
#include <algorithm>

#include "viewer/analyze/call_tree.h"

namespace varve::analyze {
namespace {

struct Cursor {
  uint32_t origin;  // node of the call tree whose self time is followed
  uint32_t at;      // the ancestor of it that this cursor has reached
};

/// A node of the caller tree that may still get children.
struct Pending {
  uint32_t node;
  std::vector<Cursor> cursors;
};

class Inverter {
 public:
  Inverter(const FunctionTree& calls, size_t function_count, uint64_t threshold)
      : calls_(calls), threshold_(threshold), slot_(function_count + 1) {
    tree_.nodes.emplace_back();
    tree_.self = MetricTable(1, calls.self.width());
    tree_.total = MetricTable(1, calls.self.width());
  }

  FunctionTree run() {
    std::vector<Cursor> leaves;
    for (uint32_t i = 1; i < calls_.nodes.size(); ++i) {
      if (!calls_.self.zero(i)) leaves.push_back({i, i});
    }
    std::vector<Pending> pending = group(0, leaves);
    for (const Pending& top : pending) tree_.self.add(top.node, tree_.total, top.node);
    while (!pending.empty()) {
      Pending next = std::move(pending.back());
      pending.pop_back();
      for (Cursor& cursor : next.cursors) cursor.at = calls_.nodes[cursor.at].parent;
      std::erase_if(next.cursors, [](const Cursor& cursor) { return cursor.at == 0; });
      for (Pending& child : group(next.node, next.cursors)) {
        if (tree_.total.at(child.node, kCpu) >= threshold_) pending.push_back(std::move(child));
      }
    }
    return std::move(tree_);
  }

 private:
  size_t slot_index(FunctionId function) const {
    return function.valid() ? function.index() : slot_.size() - 1;
  }

  /// One new node below `parent` for each function under the cursors.
  std::vector<Pending> group(uint32_t parent, const std::vector<Cursor>& cursors) {
    std::vector<Pending> groups;
    ++round_;
    for (const Cursor& cursor : cursors) {
      const TreeNode& call = calls_.nodes[cursor.at];
      Slot& slot = slot_[slot_index(call.function)];
      if (slot.round != round_) {
        slot = {round_, uint32_t(groups.size())};
        groups.push_back({add_node(parent, call.function), {}});
      }
      Pending& mine = groups[slot.group];
      tree_.total.add(mine.node, calls_.self, cursor.origin);
      tree_.nodes[mine.node].inlined &= call.inlined;
      mine.cursors.push_back(cursor);
    }
    for (const Pending& each : groups) {
      if (parent == 0) tree_.total.add(0, tree_.total, each.node);
    }
    return groups;
  }

  uint32_t add_node(uint32_t parent, FunctionId function) {
    tree_.nodes.push_back({parent, function, tree_.nodes[parent].depth + 1, true});
    tree_.self.append();
    return uint32_t(tree_.total.append());
  }

  struct Slot {
    uint64_t round = 0;
    uint32_t group = 0;
  };

  const FunctionTree& calls_;
  uint64_t threshold_;
  FunctionTree tree_;
  std::vector<Slot> slot_;  // dense, by function; valid where its round is the present one
  uint64_t round_ = 0;
};

}  // namespace

FunctionTree caller_tree(const FunctionTree& calls, size_t function_count, uint64_t threshold) {
  return Inverter(calls, function_count, threshold).run();
}

}  // namespace varve::analyze
