// SPDX-License-Identifier: MIT
// From the observer's threads to those of the profile: which load::Thread a track was at what time.
// Context: viewer.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
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

  explicit TrackThreads(const load::Profile& profile) {
    for (uint32_t i = 0; i < profile.threads.size(); ++i) {
      const load::Thread& thread = profile.threads[i];
      uint64_t end = thread.end_time.count ? thread.end_time.count : UINT64_MAX;
      if (thread.track.valid()) parts_.push_back({thread.track, {i}, {thread.start_time.count, end}});
    }
    std::ranges::stable_sort(parts_, {},
                             [](const Part& part) { return std::pair(part.track, part.range.begin); });
    first_.assign(profile.run_states.tracks.size() + 1, 0);
    for (const Part& part : parts_) ++first_[part.track.index() + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    // No moment of a track belongs to two threads.
    for (size_t i = 1; i < parts_.size(); ++i)
      if (parts_[i].track == parts_[i - 1].track)
        parts_[i - 1].range.end = std::min(parts_[i - 1].range.end, parts_[i].range.begin);
  }

  /// In the order of time.
  std::span<const Part> of(TrackId track) const {
    return std::span(parts_).subspan(first_[track.index()],
                                     first_[track.index() + 1] - first_[track.index()]);
  }
  /// Those of a track that `range` may touch, so that a shell's thousands of programs cost nothing.
  std::span<const Part> of(TrackId track, TimeRange range) const {
    const std::span<const Part> all = of(track);
    if (all.size() <= 1) return all;
    const auto begins_before = [](uint64_t time) {
      return [time](const Part& part) { return part.range.begin < time; };
    };
    auto last = std::ranges::partition_point(all, begins_before(range.end));
    auto first = std::ranges::partition_point(all, begins_before(range.begin));
    if (first != all.begin()) --first;
    return {first, last};
  }

 private:
  std::vector<Part> parts_;      // by track
  std::vector<uint32_t> first_;  // by track: its first part, and behind the last one their number
};

}  // namespace varve::analyze
