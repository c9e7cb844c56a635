// SPDX-License-Identifier: MIT
// PathChildren: downwards in a tree of call paths, which knows only parents.
// Context: viewer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "viewer/load/profile.h"

namespace varve::analyze {

/// Children of every path as linked lists in two arrays, 8 bytes a path.
class PathChildren {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  explicit PathChildren(const std::vector<load::Path>& paths);

  uint32_t first(uint32_t path) const { return first_[path]; }
  uint32_t next(uint32_t sibling) const { return next_[sibling]; }

 private:
  std::vector<uint32_t> first_, next_;
};

}  // namespace varve::analyze
