// SPDX-License-Identifier: MIT
// Sums and lists over the tree of call paths; a parent has a smaller index than its children.
// Context: viewer.
#include "viewer/analyze/paths.h"

namespace varve::analyze {

void add_to_parents(const std::vector<load::Path>& paths, MetricTable& by_path) {
  for (size_t i = paths.size(); i-- > 1;) by_path.add(paths[i].parent.index(), by_path, i);
}

PathChildren::PathChildren(const std::vector<load::Path>& paths)
    : first_(paths.size(), kNone), next_(paths.size(), kNone) {
  for (size_t i = paths.size(); i-- > 1;) {
    const size_t parent = paths[i].parent.index();
    next_[i] = first_[parent];
    first_[parent] = uint32_t(i);
  }
}

}  // namespace varve::analyze
