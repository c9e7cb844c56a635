// SPDX-License-Identifier: MIT
// A parent has a smaller index than its children, so going backwards lists them in order.
// Context: viewer.
#include "viewer/analyze/path_children.h"

namespace varve::analyze {

PathChildren::PathChildren(const std::vector<load::Path>& paths)
    : first_(paths.size(), kNone), next_(paths.size(), kNone) {
  for (size_t i = paths.size(); i-- > 1;) {
    const size_t parent = paths[i].parent.index();
    next_[i] = first_[parent];
    first_[parent] = uint32_t(i);
  }
}

}  // namespace varve::analyze
