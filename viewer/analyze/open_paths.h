// SPDX-License-Identifier: MIT
// OpenPaths: of the tree of call paths what a call tree with a threshold looks at: paths whose parents belong
// to nodes heavy enough to be grown. Of ten million unlike stacks that is a thousandth. Context: viewer.
#pragma once

#include <cstdint>
#include <vector>

#include "viewer/analyze/metrics.h"
#include "viewer/analyze/path_times.h"
#include "viewer/load/profile.h"
#include "viewer/symbol/symbol_table.h"

namespace varve::analyze {

/// A tree of its own, in the order of the profile's paths.
struct OpenPaths {
  std::vector<load::Path> paths;
  MetricTable inclusive;  // a row a path: the time of its subtree
};

/// Whatever is below a node of at least `threshold` ns is there, and maybe more; with 0 all paths that lead
/// to time.
OpenPaths open_paths(const load::Profile& profile, const symbol::SymbolTable& symbols,
                     const PathTimes& by_path, bool inlines, uint64_t threshold);

}  // namespace varve::analyze
