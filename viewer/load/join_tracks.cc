// SPDX-License-Identifier: MIT
// See join_tracks.h.
// Context: viewer.
#include "viewer/load/join_tracks.h"

#include <algorithm>
#include <map>

namespace varve::load {
namespace {

using Key = std::pair<int32_t, int32_t>;  // pid, tid

bool overlap(Nanos begin, Nanos end, Nanos other_begin, Nanos other_end) {
  auto before = [](Nanos first_end, Nanos second_begin) {
    return first_end.count && first_end < second_begin;
  };
  return !before(end, other_begin) && !before(other_end, begin);
}

class Joiner {
 public:
  explicit Joiner(Profile& profile)
      : profile_(profile), tracks_(profile.run_states.tracks), joined_(tracks_.size()) {
    for (uint32_t i = 0; i < tracks_.size(); ++i) by_key_[{tracks_[i].pid, tracks_[i].tid}].push_back({i});
    for (uint32_t i = 0; i < profile.processes.size(); ++i) by_pid_.emplace(profile.processes[i].pid, i);
  }

  void join() {
    for (Thread& thread : profile_.threads) {
      thread.track = track_of(thread);
      if (thread.track.valid()) joined_[thread.track.index()] = true;
    }
    for (uint32_t i = 0; i < tracks_.size(); ++i)
      if (!joined_[i]) add_thread({i});
  }

 private:
  /// Numbers are used again, so among the tracks that lived at the time the one that began last is meant. A
  /// sweep may see a thread later than its own agent does.
  TrackId track_of(const Thread& thread) const {
    auto found = by_key_.find({profile_.processes[thread.process.index()].pid, thread.tid});
    if (found == by_key_.end()) return TrackId::none();
    TrackId best = TrackId::none();
    for (TrackId id : found->second) {
      const Track& track = tracks_[id.index()];
      if (!overlap(track.start, track.end, thread.start_time, thread.end_time)) continue;
      if (!best.valid() || track.start <= thread.start_time) best = id;
    }
    return best;
  }

  /// The image of the track's process that ran when the track began; a new row where there is none.
  ProcessId process_of(const Track& track) {
    auto [first, end] = by_pid_.equal_range(track.pid);
    for (auto each = first; each != end; ++each) {
      const Process& process = profile_.processes[each->second];
      if (overlap(track.start, track.end, process.start_time, process.end_time)) return {each->second};
    }
    Process process;
    process.pid = track.pid;
    process.ppid = track.ppid;
    process.exe = track.name;
    process.start_time = track.start;
    process.end_time = track.end;
    process.seen_only = true;
    profile_.processes.push_back(std::move(process));
    auto added = uint32_t(profile_.processes.size() - 1);
    by_pid_.emplace(track.pid, added);
    return {added};
  }

  void add_thread(TrackId id) {
    const Track& track = tracks_[id.index()];
    Thread thread;
    thread.process = process_of(track);
    thread.track = id;
    thread.tid = track.tid;
    thread.name = track.name;
    thread.is_main = track.tid == track.pid;
    thread.seen_only = true;
    thread.start_time = track.start;
    thread.end_time = track.end;
    profile_.threads.push_back(std::move(thread));
  }

  Profile& profile_;
  const std::vector<Track>& tracks_;
  std::vector<bool> joined_;
  std::map<Key, std::vector<TrackId>> by_key_;  // by start
  std::multimap<int32_t, uint32_t> by_pid_;     // rows of Profile::processes
};

}  // namespace

void join_tracks(Profile& profile) { Joiner(profile).join(); }

}  // namespace varve::load
