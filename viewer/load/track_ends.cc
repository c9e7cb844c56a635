// SPDX-License-Identifier: MIT
// See track_ends.h.
// Context: viewer.
#include "viewer/load/track_ends.h"

#include <algorithm>
#include <map>

namespace varve::load {
namespace {

/// What the events of a track tell of it.
struct Seen {
  double running_ns = 0, ready_ns = 0, blocked_ns = 0;
  uint32_t last = UINT32_MAX;  // event
  uint32_t end = UINT32_MAX;   // the event that ends it

  void add(const RunEvent& event, uint64_t length) {
    running_ns += double(length) * event.running / RunEvent::kWhole;
    ready_ns += double(length) * event.ready / RunEvent::kWhole;
    blocked_ns += double(length) * (RunEvent::kWhole - event.active()) / RunEvent::kWhole;
  }
  /// Of the time that it did not run.
  double ready_share() const { return ready_ns > 0 ? ready_ns / (ready_ns + blocked_ns) : 0; }
};

std::vector<Seen> seen_of_tracks(const RunStates& states) {
  std::vector<Seen> seen(states.tracks.size());
  for (uint32_t i = 0; i < states.events.size(); ++i) {
    const RunEvent& event = states.events[i];
    Seen& of_track = seen[event.track.index()];
    if (of_track.last != UINT32_MAX)
      of_track.add(states.events[of_track.last], event.time_ns - states.events[of_track.last].time_ns);
    (event.ended ? of_track.end : of_track.last) = i;
  }
  return seen;
}

uint16_t clamped_share(double part, double whole) {
  return uint16_t(std::clamp(part / whole, 0.0, 1.0) * RunEvent::kWhole);
}

/// The thread's clock counts since its track began, over all its images. When it did not run after the last
/// sweep it did what it did before: a thread that had to wait for processors still had to.
RunEvent last_stretch(const Thread& thread, const Seen& seen, const RunEvent& last, uint64_t begin_ns) {
  RunEvent event = last;
  event.time_ns = begin_ns;
  event.quanta = 0;
  const auto length = double(thread.end_time.count - begin_ns);
  event.running = clamped_share(double(thread.end_cpu.count) - seen.running_ns, length);
  event.ready = uint16_t((RunEvent::kWhole - event.running) * seen.ready_share());
  return event;
}

/// By track the thread of its last image: which ended last, or was killed and has no end.
std::vector<ThreadId> last_images(const Profile& profile) {
  const auto end_of = [&](ThreadId id) {
    const Nanos end = profile.threads[id.index()].end_time;
    return end.count != 0 ? end : Nanos{UINT64_MAX};
  };
  std::vector<ThreadId> last(profile.run_states.tracks.size());
  for (ThreadId id{0}; id.index() < profile.threads.size(); ++id.value) {
    const TrackId track = profile.threads[id.index()].track;
    if (!track.valid()) continue;
    ThreadId& so_far = last[track.index()];
    if (!so_far.valid() || end_of(so_far) <= end_of(id)) so_far = id;
  }
  return last;
}

/// The last stretch of each track.
void add_ends(Profile& profile, std::vector<RunEvent>& added) {
  RunStates& states = profile.run_states;
  const std::vector<Seen> seen = seen_of_tracks(states);
  for (const ThreadId id : last_images(profile)) {
    if (!id.valid() || profile.threads[id.index()].end_cpu.count == 0) continue;
    const Thread& thread = profile.threads[id.index()];
    Track& track = states.tracks[thread.track.index()];
    const Seen& of_track = seen[thread.track.index()];
    const bool is_last = thread.end_time >= track.last_seen && thread.end_time <= track.end;
    if (of_track.end == UINT32_MAX || of_track.last == UINT32_MAX || !is_last) continue;
    const RunEvent& last = states.events[of_track.last];
    const uint64_t begin = std::max(track.last_seen.count, last.time_ns);
    if (begin >= thread.end_time.count) continue;
    added.push_back(last_stretch(thread, of_track, last, begin));
    track.end = thread.end_time;
    states.events[of_track.end].time_ns = track.end.count;
  }
}

/// Tracks of threads that lived between two sweeps. Of one that lived longer the observer should have known.
constexpr Nanos kLongestLife = kNanosPerSecond;

class UnseenThreads {
 public:
  UnseenThreads(Profile& profile, std::vector<RunEvent>& added) : profile_(profile), added_(added) {}

  void add_all() {
    for (Thread& thread : profile_.threads) {
      const Nanos end = thread.end_time;
      const bool known = !thread.track.valid() && thread.end_cpu.count != 0 && thread.start_time < end;
      if (known && end <= profile_.run_states.end && end - thread.start_time < kLongestLife) add(thread);
    }
  }

 private:
  struct Made {
    TrackId track;
    Nanos cpu;       // of the thread's clock at the end of its last image
    size_t end = 0;  // the event that ends it
  };

  /// An image that another one of the same thread has led to goes on with that one's track.
  void add(Thread& thread) {
    const Process& process = profile_.processes[thread.process.index()];
    auto [found, is_new] = made_.try_emplace({process.pid, thread.tid});
    Made& made = found->second;
    std::vector<Track>& tracks = profile_.run_states.tracks;
    const bool goes_on = !is_new && process.image > 0 && tracks[made.track.index()].end <= thread.start_time;
    // The agent of an image begins later than its thread's clock, or than the image before it ended.
    if (goes_on) {
      thread.start_time = tracks[made.track.index()].end;
    } else {
      thread.start_time = std::min(thread.start_time, saturating_sub(thread.end_time, thread.end_cpu));
      made = {{uint32_t(tracks.size())}, {}, 0};
      tracks.push_back({process.pid, thread.tid, process.ppid, thread.name, true, thread.start_time,
                        thread.end_time, thread.end_time});
    }
    RunEvent event;
    event.time_ns = thread.start_time.count;
    event.track = thread.track = made.track;
    event.running = clamped_share(double(saturating_sub(thread.end_cpu, made.cpu).count),
                                  double((thread.end_time - thread.start_time).count));
    event.quanta = 1;
    if (goes_on)
      added_[made.end] = event;
    else
      added_.push_back(event);
    made.end = added_.size();
    made.cpu = thread.end_cpu;
    tracks[made.track.index()].end = tracks[made.track.index()].last_seen = thread.end_time;
    RunEvent end;
    end.time_ns = thread.end_time.count;
    end.track = made.track;
    end.ended = true;
    added_.push_back(end);
  }

  Profile& profile_;
  std::vector<RunEvent>& added_;
  std::map<std::pair<int32_t, int32_t>, Made> made_;  // by pid and tid
};

void complete_sweeps(Profile& profile) {
  std::vector<RunEvent> added;
  add_ends(profile, added);
  UnseenThreads(profile, added).add_all();
  std::vector<RunEvent>& events = profile.run_states.events;
  events.insert(events.end(), added.begin(), added.end());
  std::ranges::stable_sort(events, {}, &RunEvent::time_ns);
}

/// Ends of threads after those of their tracks, by track; zero for the others.
std::vector<Nanos> later_ends(const Profile& profile, const std::vector<ThreadFacts>& facts) {
  std::vector<Nanos> ends(profile.run_states.tracks.size());
  for (size_t i = 0; i < profile.threads.size(); ++i) {
    const Thread& thread = profile.threads[i];
    if (!thread.track.valid()) continue;
    const bool ended_process = i < facts.size() && facts[i].ended_process;
    const Nanos known = profile.run_states.tracks[thread.track.index()].end;
    const Nanos more = saturating_sub(thread.end_time, known);
    if (known.count != 0 && more > Nanos{} && (ended_process || more <= kMostThreadEnd))
      ends[thread.track.index()] = thread.end_time;
  }
  return ends;
}

void move_exits(Profile& profile, const std::vector<ThreadFacts>& facts) {
  const std::vector<Nanos> ends = later_ends(profile, facts);
  RunStates& states = profile.run_states;
  std::vector<RunEvent> moved;
  std::erase_if(states.events, [&](const RunEvent& event) {
    const Nanos end = ends[event.track.index()];
    if (!event.ended || end == Nanos{}) return false;
    Track& track = states.tracks[event.track.index()];
    track.end = track.last_seen = end;
    moved.push_back(event);
    moved.back().time_ns = end.count;
    return true;
  });
  std::ranges::stable_sort(moved, {}, &RunEvent::time_ns);
  const auto others = ptrdiff_t(states.events.size());
  states.events.insert(states.events.end(), moved.begin(), moved.end());
  std::ranges::inplace_merge(states.events, states.events.begin() + others, {}, &RunEvent::time_ns);
}

}  // namespace

void complete_track_ends(Profile& profile, const std::vector<ThreadFacts>& facts) {
  if (profile.run_states.source == RunStates::Source::kSweeps)
    complete_sweeps(profile);
  else
    move_exits(profile, facts);
  // The agent may know of a begin before the observer's, and of an end after what that could still write.
  RunStates& states = profile.run_states;
  if (states.events.empty()) return;
  states.begin = std::min(states.begin, Nanos{states.events.front().time_ns});
  states.end = std::max(states.end, Nanos{states.events.back().time_ns});
}

}  // namespace varve::load
