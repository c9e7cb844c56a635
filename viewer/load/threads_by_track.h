// SPDX-License-Identifier: MIT
// Which threads of the profile a track was, one program image after the other. Context: viewer.
#pragma once

#include <algorithm>
#include <vector>

#include "viewer/load/profile.h"

namespace varve::load {

class ThreadsByTrack {
 public:
  explicit ThreadsByTrack(const Profile& profile)
      : profile_(profile), threads_(profile.run_states.tracks.size()) {
    for (uint32_t i = 0; i < profile.threads.size(); ++i)
      if (const TrackId track = profile.threads[i].track; track.valid())
        threads_[track.index()].push_back({i});
    for (std::vector<ThreadId>& images : threads_)
      std::ranges::stable_sort(images, {}, [this](ThreadId each) { return start_of(each); });
  }

  /// The one that lived at that time, the last of those that had begun; none if it had ended.
  ThreadId at(TrackId track, uint64_t time_ns) const {
    const std::vector<ThreadId>& images = threads_[track.index()];
    const auto after =
        std::ranges::upper_bound(images, time_ns, {}, [this](ThreadId each) { return start_of(each); });
    if (after == images.begin()) return ThreadId::none();
    const uint64_t end = profile_.threads[(after - 1)->index()].end_time.count;
    return end != 0 && end <= time_ns ? ThreadId::none() : *(after - 1);
  }

 private:
  uint64_t start_of(ThreadId thread) const { return profile_.threads[thread.index()].start_time.count; }

  const Profile& profile_;
  std::vector<std::vector<ThreadId>> threads_;
};

}  // namespace varve::load
