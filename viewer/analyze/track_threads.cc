// SPDX-License-Identifier: MIT
// Which threads a track was, in the order of time. See track_threads.h.
// Context: viewer.
#include "viewer/analyze/track_threads.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace varve::analyze {

TrackThreads::TrackThreads(const load::Profile& profile) {
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

std::span<const TrackThreads::Part> TrackThreads::of(TrackId track, TimeRange range) const {
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

}  // namespace varve::analyze
