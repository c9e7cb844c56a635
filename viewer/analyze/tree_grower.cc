// SPDX-License-Identifier: MIT
// Grouping by a dense table of slots that is never cleared, and a stack of cursors instead of a list a node.
// Context: viewer.
#include "viewer/analyze/tree_grower.h"

#include <algorithm>

namespace varve::analyze {

TreeGrower::TreeGrower(size_t function_count, size_t width, uint64_t threshold)
    : tree_{{TreeNode{}}, MetricTable(1, width), MetricTable(1, width), threshold},
      threshold_(threshold),
      slots_(2 * (function_count + 1)) {}

void TreeGrower::begin(uint32_t parent) {
  parent_ = parent;
  ++round_;
  emitted_.clear();
  groups_.clear();
}

void TreeGrower::emit(const Cursor& cursor, FunctionId function, bool inlined,
                      std::span<const uint64_t> metrics) {
  const size_t index = function.valid() ? function.index() : slots_.size() / 2 - 1;
  Slot& slot = slots_[2 * index + (apart_ && inlined ? 1 : 0)];
  if (slot.round != round_) {
    slot = {round_, uint32_t(groups_.size())};
    groups_.push_back({add_node(function, inlined), 0, 0});
  }
  Group& group = groups_[slot.group];
  ++group.size;
  tree_.total.add(group.node, metrics);
  tree_.nodes[group.node].inlined &= inlined;
  emitted_.push_back({cursor, slot.group});
}

uint32_t TreeGrower::add_node(FunctionId function, bool inlined) {
  tree_.nodes.push_back({parent_, function, tree_.nodes[parent_].depth + 1, inlined});
  tree_.self.append();
  return uint32_t(tree_.total.append());
}

void TreeGrower::end() {
  size_t at = arena_.size();
  constexpr size_t kNotGrown = SIZE_MAX;
  for (Group& group : groups_) {
    if (parent_ == 0) tree_.total.add(0, tree_.total, group.node);
    const bool grown = tree_.total.at(group.node, kCpu) >= threshold_;
    group.at = grown ? at : kNotGrown;
    if (!grown) continue;
    pending_.push_back({group.node, at});
    at += group.size;
  }
  arena_.resize(at);
  for (const Emitted& each : emitted_) {
    Group& group = groups_[each.group];
    if (group.at != kNotGrown) arena_[group.at++] = each.cursor;
  }
}

bool TreeGrower::next(uint32_t& node, std::vector<Cursor>& cursors) {
  if (pending_.empty()) return false;
  const Pending last = pending_.back();
  pending_.pop_back();
  node = last.node;
  cursors.assign(arena_.begin() + ptrdiff_t(last.first), arena_.end());
  arena_.resize(last.first);
  return true;
}

FunctionTree TreeGrower::finish() {
  tree_.threshold = threshold_;
  return std::move(tree_);
}

uint64_t raised_threshold(uint64_t threshold, uint64_t all_ns) {
  const uint64_t ten_times = threshold > UINT64_MAX / 10 ? UINT64_MAX : threshold * 10;
  return std::max({uint64_t(1), all_ns / 10'000'000, ten_times});
}

}  // namespace varve::analyze
