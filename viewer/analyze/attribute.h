// SPDX-License-Identifier: MIT
// Attribution: self and total of every key (function, module or line) over the tree of call paths.
// self = exclusive: time whose innermost frame has the key. total = inclusive: time with the key anywhere in
// the stack, recursion counted once. Context: viewer.
#pragma once

#include <vector>

#include "viewer/analyze/metrics.h"
#include "viewer/analyze/path_times.h"
#include "viewer/analyze/site_keys.h"
#include "viewer/load/profile.h"

namespace varve::analyze {

struct Flat {
  MetricTable self;   // a row a key, and one more for stacks without any frame
  MetricTable total;  // likewise
};

/// One walk over the tree. Linear in paths and frames where paths are numbered as their samples came, which
/// is how the loader does it.
Flat attribute(const std::vector<load::Path>& paths, const PathTimes& by_path, const SiteKeys& keys);

}  // namespace varve::analyze
