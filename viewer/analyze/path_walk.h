// SPDX-License-Identifier: MIT
// PathWalk: a walk over the tree of call paths from one path with numbers to the next, in the order of their
// numbers, with the present path and all above it on a stack. So each analysis knows of a path what is above
// it, and no stack is ever written down. In the order in which samples came a step costs what the two samples
// do not share, memory is read forwards, and paths that lead to nothing are never looked at. Any range can be
// walked on its own. Context: viewer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "viewer/analyze/path_times.h"
#include "viewer/load/profile.h"

namespace varve::analyze {

/// The visitor has enter(path) and leave(path), called for all but the empty path; it outlives the walk.
template <typename Visitor>
class PathWalk {
 public:
  PathWalk(const std::vector<load::Path>& paths, Visitor& visitor) : paths_(paths), visitor_(visitor) {}

  /// A parent's number is smaller, so of two paths only the larger can be below the other.
  void go_to(uint32_t path) {
    climb_.clear();
    while (path != stack_.back()) {
      if (path > stack_.back()) {
        climb_.push_back(path);
        path = paths_[path].parent.value;
      } else {
        visitor_.leave(stack_.back());
        stack_.pop_back();
      }
    }
    for (; !climb_.empty(); climb_.pop_back()) {
      stack_.push_back(climb_.back());
      visitor_.enter(climb_.back());
    }
  }

 private:
  const std::vector<load::Path>& paths_;
  Visitor& visitor_;
  std::vector<uint32_t> stack_ = {0}, climb_;
};

/// Walks the paths in [first, end), bounds of parts of by_path.with(), and back to the root. The visitor has
/// at(path, numbers), too, called where the walk stands on a path with numbers.
template <typename Visitor>
void walk_paths(const std::vector<load::Path>& paths, const PathTimes& by_path, size_t first, size_t end,
                Visitor& visitor) {
  PathWalk<Visitor> walk(paths, visitor);
  by_path.for_each(first, end, [&](uint32_t path, std::span<const uint64_t> numbers) {
    walk.go_to(path);
    visitor.at(path, numbers);
  });
  walk.go_to(0);
}
template <typename Visitor>
void walk_paths(const std::vector<load::Path>& paths, const PathTimes& by_path, Visitor& visitor) {
  walk_paths(paths, by_path, 0, by_path.with().paths(), visitor);
}

/// For visitors: what was added since the walk entered each path on its stack.
class OpenSums {
 public:
  explicit OpenSums(size_t width) : sum_(width), since_(width) {}

  void add(std::span<const uint64_t> numbers) {
    for (size_t k = 0; k < sum_.size(); ++k) sum_[k] += numbers[k];
  }
  void enter() { at_enter_.insert(at_enter_.end(), sum_.begin(), sum_.end()); }
  /// Valid until the next call.
  std::span<const uint64_t> leave() {
    const size_t width = sum_.size(), base = at_enter_.size() - width;
    for (size_t k = 0; k < width; ++k) since_[k] = sum_[k] - at_enter_[base + k];
    at_enter_.resize(base);
    return since_;
  }

 private:
  std::vector<uint64_t> sum_, since_, at_enter_;
};

}  // namespace varve::analyze
