// SPDX-License-Identifier: MIT
// What the threads of a timeline waited for in each slice, as far as hooks or looks saw it. Context: viewer.
#pragma once

#include <cstdint>
#include <vector>

#include "viewer/analyze/object_key.h"
#include "viewer/analyze/timeline.h"

namespace varve::analyze {

inline constexpr uint32_t kNoObject = UINT32_MAX;

struct TimelineObjects {
  std::vector<ObjectKey> objects;  // those that most slices are of first
  std::vector<uint32_t> of;        // as Timeline::states: a row of `objects`, or kNoObject
};

/// Of the slices in which threads were blocked most of the time; of several waits the longest counts.
TimelineObjects timeline_objects(const load::Profile& profile, const Timeline& line);

}  // namespace varve::analyze
