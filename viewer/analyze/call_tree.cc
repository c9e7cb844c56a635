// SPDX-License-Identifier: MIT
// The call tree: from a frame to the frame inlined into it, and from the innermost frame of a path to the
// outermost of each path below it. Context: viewer.
#include "viewer/analyze/call_tree.h"

#include <optional>

#include "viewer/analyze/open_paths.h"
#include "viewer/analyze/path_children.h"
#include "viewer/analyze/site_keys.h"
#include "viewer/analyze/tree_grower.h"

namespace varve::analyze {
namespace {

class CallTreeBuilder {
 public:
  CallTreeBuilder(const OpenPaths& open, const PathChildren& children, const symbol::SymbolTable& symbols,
                  bool inlines, uint64_t threshold)
      : paths_(open.paths),
        inclusive_(open.inclusive),
        children_(children),
        symbols_(symbols),
        inlines_(inlines),
        grower_(symbols.functions.size(), inclusive_.width(), threshold),
        own_(inclusive_.width()) {}

  /// Nothing if the tree would be larger than `most_nodes`.
  std::optional<FunctionTree> run(size_t most_nodes) {
    grower_.begin(0);
    emit_children(0);
    // What no child accounts for has no frame at all.
    if (own_time(0)) grower_.emit({0, 0, 0}, FunctionId::none(), false, own_);
    grower_.end();
    uint32_t node = 0;
    std::vector<Cursor> cursors;
    while (grower_.next(node, cursors)) {
      grower_.begin(node);
      for (const Cursor& cursor : cursors) follow(node, cursor);
      grower_.end();
      if (grower_.nodes() > most_nodes) return std::nullopt;
    }
    return grower_.finish();
  }

 private:
  std::span<const symbol::Frame> frames(uint32_t path) const {
    return counted_frames(symbols_, paths_[path].site, inlines_);
  }

  void emit(uint32_t path, uint32_t level) {
    const symbol::Frame& frame = frames(path)[level];
    grower_.emit({path, level, 0}, frame.function, inlines_ && frame.inlined, inclusive_.row(path));
  }

  void emit_children(uint32_t path) {
    for (uint32_t i = children_.first(path); i != PathChildren::kNone; i = children_.next(i)) {
      if (!inclusive_.zero(i)) emit(i, uint32_t(frames(i).size() - 1));
    }
  }

  void follow(uint32_t node, const Cursor& cursor) {
    if (cursor.level > 0) return emit(cursor.path, cursor.level - 1);
    if (own_time(cursor.path)) grower_.add_self(node, own_);
    if (cursor.path != 0) emit_children(cursor.path);
  }

  /// Fills own_ with the time that ends in the path: its inclusive time without that of its children.
  bool own_time(uint32_t path) {
    const auto all = inclusive_.row(path);
    own_.assign(all.begin(), all.end());
    for (uint32_t i = children_.first(path); i != PathChildren::kNone; i = children_.next(i)) {
      for (size_t k = 0; k < own_.size(); ++k) own_[k] -= inclusive_.at(i, k);
    }
    for (const uint64_t number : own_) {
      if (number != 0) return true;
    }
    return false;
  }

  const std::vector<load::Path>& paths_;
  const MetricTable& inclusive_;
  const PathChildren& children_;
  const symbol::SymbolTable& symbols_;
  const bool inlines_;
  TreeGrower grower_;
  std::vector<uint64_t> own_;
};

}  // namespace

FunctionTree call_tree(const load::Profile& profile, const symbol::SymbolTable& symbols,
                       const PathTimes& by_path, bool inlines, uint64_t threshold, size_t most_nodes) {
  const size_t width = by_path.width();
  if (profile.paths.empty()) return {{TreeNode{}}, MetricTable(1, width), MetricTable(1, width), threshold};
  const OpenPaths open = open_paths(profile, symbols, by_path, inlines, threshold);
  const PathChildren children(open.paths);
  while (true) {
    CallTreeBuilder builder(open, children, symbols, inlines, threshold);
    if (auto tree = builder.run(most_nodes)) return std::move(*tree);
    threshold = raised_threshold(threshold, open.inclusive.at(0, kCpu));
  }
}

}  // namespace varve::analyze
