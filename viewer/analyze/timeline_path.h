// SPDX-License-Identifier: MIT
// Where the critical path goes through the threads of a timeline, slice by slice. Context: viewer.
#pragma once

#include <string>
#include <vector>

#include "viewer/analyze/critical_path.h"
#include "viewer/analyze/timeline.h"

namespace varve::analyze {

/// What a slice of a thread has to do with the path.
inline constexpr char kOffPath = ' ', kOnPath = '=', kPathFromAbove = 'v', kPathFromBelow = '^';

/// A string of `line.slices` letters for each thread of `line`. A slice is of the thread that has most of the
/// path there; where that is another than in the slice before, the letter says from where the path came.
std::vector<std::string> path_strips(const load::Profile& profile, const Timeline& line,
                                     const CriticalPath& path);

}  // namespace varve::analyze
