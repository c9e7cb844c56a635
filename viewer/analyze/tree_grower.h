// SPDX-License-Identifier: MIT
// TreeGrower: grows a FunctionTree node by node. A node stands for a list of cursors, places in the tree of
// paths; its children are the places that come next, grouped by function. What is next is the caller's:
// downwards for the call tree, upwards for the caller tree. No hashing, and only nodes worth it are grown: a
// tree of a thousand rows out of ten million samples does not build the other ten million nodes. Context:
// viewer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "viewer/analyze/call_tree.h"

namespace varve::analyze {

/// A frame of a path: `level` counts from the innermost.
struct Cursor {
  uint32_t path = 0;
  uint32_t level = 0;
  uint32_t origin = 0;  // what the grower's caller wants to keep with it
};

class TreeGrower {
 public:
  TreeGrower(size_t function_count, size_t width, uint64_t threshold);

  /// Between begin() and end(): the next places below `parent`, in any order.
  void begin(uint32_t parent);
  void emit(const Cursor& cursor, FunctionId function, bool inlined, std::span<const uint64_t> metrics);
  /// Lines up for growing what was emitted.
  void end();

  /// The next node to grow, and its cursors; false when the tree is done.
  bool next(uint32_t& node, std::vector<Cursor>& cursors);

  void add_self(uint32_t node, std::span<const uint64_t> metrics) { tree_.self.add(node, metrics); }
  /// Inlined copies are nodes of their own (call tree), or one with the function itself (caller tree).
  void tell_inlined_apart(bool apart) { apart_ = apart; }
  size_t nodes() const { return tree_.nodes.size(); }
  FunctionTree finish();

 private:
  struct Slot {
    uint64_t round = 0;
    uint32_t group = 0;
  };
  struct Emitted {
    Cursor cursor;
    uint32_t group;
  };
  struct Group {
    uint32_t node = 0;
    size_t size = 0;
    size_t at = 0;
  };
  struct Pending {
    uint32_t node;
    size_t first;  // of its cursors, which reach to the end of `arena_` when it is the last
  };

  uint32_t add_node(FunctionId function, bool inlined);

  FunctionTree tree_;
  uint64_t threshold_;
  bool apart_ = true;
  uint32_t parent_ = 0;
  uint64_t round_ = 0;
  std::vector<Slot> slots_;  // dense, by function; valid where its round is the present one
  std::vector<Emitted> emitted_;
  std::vector<Group> groups_;
  std::vector<Pending> pending_;
  std::vector<Cursor> arena_;  // a stack: cursors of pending nodes
};

/// The threshold to try next when a tree was too large: a ten-millionth of all time at first, then ten times
/// as much.
uint64_t raised_threshold(uint64_t threshold, uint64_t all_ns);

}  // namespace varve::analyze
