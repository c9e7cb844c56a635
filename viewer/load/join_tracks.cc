// SPDX-License-Identifier: MIT
// See join_tracks.h.
// Context: viewer.
#include "viewer/load/join_tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>

#include "common/session_keys.h"

namespace varve::load {
namespace {

using Key = std::pair<int32_t, int32_t>;  // pid, tid
constexpr uint32_t kNone = UINT32_MAX;
/// A sweep may find a thread so late that its agent has said good-bye; ids are not used again that soon.
constexpr Nanos kLateSight{100 * kNanosPerMilli.count};

bool overlap(Nanos begin, Nanos end, Nanos other_begin, Nanos other_end) {
  auto before = [](Nanos first_end, Nanos second_begin) {
    return first_end.count && first_end < second_begin;
  };
  return !before(end, other_begin) && !before(other_end, begin);
}

/// By name of the agent's file the number of its process outside of its pid namespace, as the recorder told.
std::unordered_map<std::string_view, int32_t> outside_pids(const Session& session) {
  std::unordered_map<std::string_view, int32_t> pids;
  for (const auto& [key, value] : session.texts) {
    const size_t space = value.rfind(' ');
    if (key != session_key::kOutsidePid || space == std::string::npos) continue;
    int32_t pid = 0;
    std::from_chars(value.data() + space + 1, value.data() + value.size(), pid);
    if (pid > 0) pids[std::string_view(value).substr(0, space)] = pid;
  }
  return pids;
}

using RowsByTime = std::multimap<uint64_t, uint32_t>;

/// The row of the nearest time; the end where none is near.
RowsByTime::iterator nearest(RowsByTime& rows, uint64_t time_ns) {
  constexpr uint64_t kNearNs = 20 * kNanosPerMilli.count;  // a sweep, and a wait for a processor
  const auto distance = [&](RowsByTime::iterator row) {
    return row->first < time_ns ? time_ns - row->first : row->first - time_ns;
  };
  auto found = rows.lower_bound(time_ns);
  if (found != rows.begin() && (found == rows.end() || distance(std::prev(found)) < distance(found))) --found;
  return found != rows.end() && distance(found) <= kNearNs ? found : rows.end();
}

class Joiner {
 public:
  explicit Joiner(Profile& profile)
      : profile_(profile),
        tracks_(profile.run_states.tracks),
        joined_(tracks_.size()),
        stopped_(profile.session.number(session_key::kStopMonotonicNs)) {
    for (uint32_t i = 0; i < tracks_.size(); ++i) {
      const Track& track = tracks_[i];
      tracks_of_[{track.pid, track.tid}].emplace(track.start.count, i);
      if (track.own_tid != 0) inside_tracks_of_[{track.pid, track.own_tid}].emplace(track.start.count, i);
    }
    const auto outside = outside_pids(profile.session);
    for (uint32_t i = 0; i < profile.processes.size(); ++i) {
      const Process& process = profile.processes[i];
      const auto told = outside.find(
          fmt::format("{}-{}-{}{}", process.host, process.pid, process.image, format::kAgentSuffix));
      pid_of_.push_back(told == outside.end() ? process.pid : told->second);
      images_of_[pid_of_.back()].emplace(process.start_time.count, i);
    }
  }

  void join() {
    for (Thread& thread : profile_.threads) take(thread, track_of(thread));
    take_nearest_tracks();
    close_gaps();
    for (uint32_t i = 0; i < tracks_.size(); ++i)
      if (!joined_[i]) add_thread({i}, process_of(tracks_[i]), tracks_[i].start);
    for (const ThreadId each : gone_on_) add_next_image(each);
  }

 private:
  /// The agent of an image begins when the kernel and the dynamic loader are done with it, and ends before
  /// the kernel is. That time is the thread's all the same, and its CPU time is charged to it (kStartUp), so
  /// a thread begins with its track, or where the image before it ended, and ends with its track.
  void close_gaps() {
    std::vector<Thread*> threads;
    for (Thread& thread : profile_.threads)
      if (thread.track.valid()) threads.push_back(&thread);
    std::ranges::stable_sort(
        threads, {}, [](const Thread* thread) { return std::pair(thread->track, thread->start_time); });
    for (size_t i = 0; i < threads.size(); ++i) {
      const Track& track = tracks_[threads[i]->track.index()];
      const bool first = i == 0 || threads[i - 1]->track != threads[i]->track;
      const bool last = i + 1 == threads.size() || threads[i + 1]->track != threads[i]->track;
      const Nanos begin = first ? track.start : threads[i - 1]->end_time;
      if (begin.count != 0) threads[i]->start_time = std::min(threads[i]->start_time, begin);
      if (last && goes_on(*threads[i], track))
        gone_on_.push_back({uint32_t(threads[i] - profile_.threads.data())});
      else if (last && threads[i]->end_time.count != 0 && track.end.count != 0)
        threads[i]->end_time = std::clamp(threads[i]->end_time, track.last_seen, track.end);
      // A first look that came late: it lived for as long as it ran at least.
      if (first && !track.start_seen && threads[i]->end_time.count != 0)
        threads[i]->start_time =
            std::min(threads[i]->start_time, saturating_sub(threads[i]->end_time, own_cpu(*threads[i])));
    }
  }

  /// The clock of a thread that has executed the image under another id goes on from there.
  Nanos own_cpu(const Thread& thread) const {
    const bool executed = profile_.processes[thread.process.index()].image != 0;
    return saturating_sub(thread.end_cpu, executed ? thread.start_cpu : Nanos{});
  }

  /// Beyond an exec, as a program without an agent: a static one, or of a user who cannot reach the profile.
  /// The end of an exec that came to nothing takes less; one after the recording was stopped is none of its.
  /// Where another thread has executed what comes next, this one was killed, which takes it a processor.
  bool goes_on(const Thread& thread, const Track& track) const {
    constexpr Nanos kWorthTelling{2 * kNanosPerMilli.count};
    const Nanos seen = track.end.count != 0 ? track.end : track.last_seen;
    const bool stopped = thread.end_time.count == stopped_;
    return thread.is_main && thread.end_time.count != 0 && !stopped &&
           saturating_sub(seen, kWorthTelling) > thread.end_time &&
           profile_.processes[thread.process.index()].end == format::ImageEnd::kExec &&
           !has_next_image(thread.process);
  }

  /// The process's clock goes on there; that of another process which has the same id later begins anew.
  bool has_next_image(ProcessId id) const {
    const Process& process = profile_.processes[id.index()];
    return std::ranges::any_of(images_of_.at(pid_of_[id.index()]), [&](const auto& row) {
      const Process& other = profile_.processes[row.second];
      return other.image == process.image + 1 && other.start_time >= process.start_time &&
             other.start_cpu >= process.end_cpu;
    });
  }

  /// Of rows that have the same number, one after the other: the last that began before `start` if it lived
  /// then, else the first after it. kNone if neither did.
  template <typename Row>
  static uint32_t row_at(const RowsByTime& rows, Nanos start, const Row& overlaps) {
    auto after = rows.upper_bound(start.count);
    if (after != rows.begin() && overlaps(std::prev(after)->second)) return std::prev(after)->second;
    return after != rows.end() && overlaps(after->second) ? after->second : kNone;
  }

  void take(Thread& thread, TrackId track) {
    thread.track = track;
    if (track.valid()) joined_[track.index()] = true;
  }

  /// In a pid namespace of its own: its numbers are not those of the tracks.
  bool is_inside(const Thread& thread) const {
    return pid_of_[thread.process.index()] != profile_.processes[thread.process.index()].pid;
  }

  /// Of threads whose process alone is known by its number outside, as where switches are told and not swept:
  /// of the tracks there that are no thread's yet, the one that began nearest to when the thread was made.
  void take_nearest_tracks() {
    std::unordered_map<int32_t, RowsByTime> free;  // by pid and start
    for (uint32_t i = 0; i < tracks_.size(); ++i)
      if (!joined_[i] && tracks_[i].own_tid == 0) free[tracks_[i].pid].emplace(tracks_[i].start.count, i);
    for (Thread& thread : profile_.threads) {
      if (!is_inside(thread) || thread.track.valid()) continue;
      auto& tracks = free[pid_of_[thread.process.index()]];
      const auto near =
          nearest(tracks, (thread.created.count != 0 ? thread.created : thread.start_time).count);
      if (near == tracks.end()) continue;
      take(thread, {near->second});
      tracks.erase(near);
    }
  }

  TrackId track_of(const Thread& thread) const {
    const int32_t pid = pid_of_[thread.process.index()];
    const bool by_own_tid = is_inside(thread) && !thread.is_main;
    auto& tracks = by_own_tid ? inside_tracks_of_ : tracks_of_;
    auto found = tracks.find({pid, is_inside(thread) && thread.is_main ? pid : thread.tid});
    if (found == tracks.end()) return TrackId::none();
    return {row_at(found->second, thread.start_time, [&](uint32_t row) {
      const Nanos late = tracks_[row].start_seen ? Nanos{} : kLateSight;
      return overlap(saturating_sub(tracks_[row].start, late), tracks_[row].end, thread.start_time,
                     thread.end_time);
    })};
  }

  /// The image of the track's process that ran when the track began; a new row where there is none.
  ProcessId process_of(const Track& track) {
    auto& images = images_of_[track.pid];
    const uint32_t row = row_at(images, track.start, [&](uint32_t each) {
      const Process& process = profile_.processes[each];
      return overlap(track.start, track.end, process.start_time, process.end_time);
    });
    if (row != kNone) return {row};
    const ProcessId added = add_process(track, track.start);
    images.emplace(track.start.count, added.value);
    return added;
  }

  ProcessId add_process(const Track& track, Nanos start) {
    Process process;
    process.pid = track.pid;
    process.ppid = track.ppid;
    process.exe = track.name;
    process.start_time = start;
    process.end_time = track.end;
    process.seen_only = true;
    profile_.processes.push_back(std::move(process));
    return {uint32_t(profile_.processes.size() - 1)};
  }

  /// The program that a thread has executed, from then on.
  void add_next_image(ThreadId id) {
    const Thread before = profile_.threads[id.index()];
    const Process& image = profile_.processes[before.process.index()];
    const int32_t pid = image.pid;
    const uint32_t number = image.image + 1;
    const ProcessId process = add_process(tracks_[before.track.index()], before.end_time);
    profile_.processes[process.index()].pid = pid;
    profile_.processes[process.index()].image = number;
    add_thread(before.track, process, before.end_time);
    profile_.threads.back().tid = before.tid;
  }

  void add_thread(TrackId id, ProcessId process, Nanos start) {
    const Track& track = tracks_[id.index()];
    Thread thread;
    thread.process = process;
    thread.track = id;
    thread.tid = track.tid;
    thread.name = track.name;
    thread.is_main = track.tid == track.pid;
    thread.seen_only = true;
    thread.start_time = start;
    thread.end_time = track.end;
    profile_.threads.push_back(std::move(thread));
  }

  Profile& profile_;
  const std::vector<Track>& tracks_;
  std::vector<bool> joined_;
  const uint64_t stopped_;         // when the recording was; 0: it was not
  std::vector<ThreadId> gone_on_;  // beyond the exec that ended their last image
  std::vector<int32_t> pid_of_;    // by process: its number to the observer
  // By start; the values are rows.
  std::map<Key, RowsByTime> tracks_of_;
  std::map<Key, RowsByTime> inside_tracks_of_;  // by the tid in a pid namespace of their own
  std::map<int32_t, RowsByTime> images_of_;
};

}  // namespace

void join_tracks(Profile& profile) { Joiner(profile).join(); }

}  // namespace varve::load
