// SPDX-License-Identifier: MIT
// Which threads of the profile a track was, one program image after the other. Context: viewer.
#pragma once

#include <span>
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
  }

  /// In the order of the profile, which is that of time.
  std::span<const ThreadId> of(TrackId track) const { return threads_[track.index()]; }

  /// The one that lived at that time; none if there was none.
  ThreadId at(TrackId track, uint64_t time_ns) const {
    for (const ThreadId thread : of(track)) {
      const Thread& row = profile_.threads[thread.index()];
      const bool ended = row.end_time.count != 0 && row.end_time.count <= time_ns;
      if (row.start_time.count <= time_ns && !ended) return thread;
    }
    return ThreadId::none();
  }

 private:
  const Profile& profile_;
  std::vector<std::vector<ThreadId>> threads_;
};

}  // namespace varve::load
