// SPDX-License-Identifier: MIT
// Sums and lists over the tree of call paths; a parent has a smaller index than its children.
// Context: viewer.
#include "viewer/analyze/paths.h"

namespace varve::analyze {

MetricTable inclusive_times(const std::vector<load::Path>& paths, const PathTimes& by_path) {
  MetricTable inclusive(paths.size(), by_path.width());
  for (size_t i = paths.size(); i-- > 0;) {
    inclusive.add(i, by_path.row(i));
    if (i > 0) inclusive.add(paths[i].parent.index(), inclusive, i);
  }
  return inclusive;
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
