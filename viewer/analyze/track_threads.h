// SPDX-License-Identifier: MIT
// From the observer's threads to those of the profile: which load::Thread a track was at what time.
// Context: viewer.
#pragma once

#include <span>
#include <vector>

#include "viewer/analyze/stretches.h"
#include "viewer/load/profile.h"

namespace varve::analyze {

class TrackThreads {
 public:
  struct Part {
    TrackId track;
    ThreadId thread;
    TimeRange range;
  };

  explicit TrackThreads(const load::Profile& profile);

  /// In the order of time.
  std::span<const Part> of(TrackId track) const {
    return std::span(parts_).subspan(first_[track.index()],
                                     first_[track.index() + 1] - first_[track.index()]);
  }
  /// Those of a track that `range` may touch, so that a shell's thousands of programs cost nothing.
  std::span<const Part> of(TrackId track, TimeRange range) const;

 private:
  std::vector<Part> parts_;      // by track
  std::vector<uint32_t> first_;  // by track: its first part, and behind the last one their number
};

}  // namespace varve::analyze
