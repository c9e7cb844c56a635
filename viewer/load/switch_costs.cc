// SPDX-License-Identifier: MIT
// See switch_costs.h.
// Context: viewer.
#include "viewer/load/switch_costs.h"

#include <algorithm>
#include <cmath>

#include "viewer/load/row_groups.h"

namespace varve::load {
namespace {

/// More than this on average is no switch: events that are missing, of a profile that was damaged or forged,
/// or, where records were lost, time that was in these.
constexpr double kMostCostNs = 50'000, kMostCostOfLossyNs = 5'000;
/// Turns that follow those of other threads at once have no room, and the others make up for them: each round
/// leaves half of what is missing, if half of the turns have room. Where hardly any has, none is to get what
/// a hundred lack: no more than so many times the average.
constexpr int kMostRounds = 5;
constexpr double kMostAverages = 4;
/// Of the CPU time; less is not worth another walk through all events.
constexpr double kWorthOneIn = 1000;
/// What interrupts and other guests of the machine take is in the records and not in the clock: of fewer
/// turns the difference says little of switches, but of all such threads together it does.
constexpr uint64_t kFewTurns = 32;

/// What was in lost records is charged and not recorded, as what a switch takes is. They are lost in a row:
/// of a million a second, 347 hide 0.3 ms, and one in a hundred of a long run would hide seconds.
constexpr uint64_t kMostLostOneIn = 100;

bool misses_too_much(const RunStates& states) { return states.lost > states.events.size() / kMostLostOneIn; }

/// A thread's CPU clock at one moment.
struct Reading {
  uint64_t time_ns = 0, cpu_ns = 0;
};

/// What a thread did from one reading of its clock to another.
struct Window {
  TrackId track;
  Reading begin, end;
  uint64_t recorded_ns = 0;
  uint64_t turns = 0;
  uint32_t group = 0;

  bool has(uint64_t time_ns) const { return begin.time_ns <= time_ns && time_ns < end.time_ns; }
  double charged_ns() const { return double(end.cpu_ns - begin.cpu_ns); }
};

/// Windows whose switches cost the same. All times in ns.
struct CostGroup {
  double missing = 0;  // charged and not recorded
  double turns = 0;
  double cost = 0;    // of a switch
  double placed = 0;  // of such costs, before turns that have room for them
  double roomy = 0;   // turns that have room for more

  void reckon_cost() {
    const double most = std::min(kMostAverages * missing / std::max(turns, 1.0), kMostCostNs);
    if (missing > placed && roomy != 0) cost = std::min(cost + (missing - placed) / roomy, most);
    placed = roomy = 0;
  }
  void place(uint64_t room_ns) {
    placed += std::min(cost, double(room_ns));
    roomy += double(room_ns) > cost;
  }
};

/// Of a thread that was killed, or went on when the recording ended, its last tick's, unless that came in a
/// pause or its sample was lost: then nobody knows when it was.
Reading last_reading(const Thread& thread, const ThreadFacts& facts) {
  if (thread.end_cpu > Nanos{}) return {thread.told_end.count, thread.end_cpu.count};
  if (thread.last_cpu != thread.start_cpu + thread.sampled) return {};
  return {facts.last_sample.count, thread.last_cpu.count};
}

/// By track and time; none overlaps another one of its track, for each image goes on where the one before was
/// read. The clock of a thread that begins is 0. A track of one that executed a program under another id
/// begins with a clock that goes on.
std::vector<Window> make_windows(const Profile& profile, const std::vector<ThreadFacts>& facts) {
  const RunStates& states = profile.run_states;
  const RowGroups threads(states.tracks.size(), std::min(facts.size(), profile.threads.size()),
                          [&](size_t row) { return profile.threads[row].track.index(); });
  std::vector<Window> windows;
  for (uint32_t track = 0; track < states.tracks.size(); ++track) {
    Reading before;
    for (const uint32_t row : threads.of(track)) {
      const Thread& thread = profile.threads[row];
      const bool begins = states.tracks[track].start_seen && row == threads.of(track).front() &&
                          profile.processes[thread.process.index()].image == 0;
      if (begins) before = {states.tracks[track].start.count, 0};
      const Reading told{thread.told_start.count, thread.start_cpu.count};
      const Reading begin = before.time_ns != 0 ? before : told, end = last_reading(thread, facts[row]);
      if (end.time_ns <= begin.time_ns || end.cpu_ns <= begin.cpu_ns) continue;
      before = end;
      if (end.time_ns <= states.end.count) windows.push_back({{track}, begin, end});
    }
  }
  return windows;
}

/// When the last turn on each processor ended. The end of a turn does not say where that was.
class ProcessorEnds {
 public:
  explicit ProcessorEnds(size_t tracks) : runs_on_(tracks, RunEvent::kNoProcessor) {}

  uint64_t of(uint16_t processor) const { return processor < ends_ns_.size() ? ends_ns_[processor] : 0; }
  /// One that is on another processor at once had an end that was lost.
  void note(const RunEvent& event) {
    uint16_t& processor = runs_on_[event.track.index()];
    const bool leaves = event.running == 0 || event.processor != processor;
    if (leaves && processor != RunEvent::kNoProcessor) {
      if (processor >= ends_ns_.size()) ends_ns_.resize(size_t(processor) + 1);
      ends_ns_[processor] = event.time_ns;
    }
    processor = event.running == 0 ? RunEvent::kNoProcessor : event.processor;
  }

 private:
  std::vector<uint16_t> runs_on_;  // by track
  std::vector<uint64_t> ends_ns_;  // by processor
};

/// Goes through the events in the order of time, with what each track did last.
class Walk {
 public:
  Walk(std::vector<Window>& windows, size_t tracks) : windows_(windows), places_(tracks), ends_(tracks) {
    for (size_t i = windows.size(); i-- > 0;) places_[windows[i].track.index()].window = i;
  }

  /// Calls `began(event, window, room_ns)` for each turn that begins within a window: so long neither the
  /// thread had a processor, or was switched out, nor another one had that processor.
  template <typename Event, typename Began>
  void take(Event& event, Began began) {
    Place& place = places_[event.track.index()];
    Window* window = window_at(place, event);
    if (event.running != 0 && !place.running && window && window->has(event.time_ns)) {
      const uint64_t least_ns = std::max(place.since_ns + 1, ends_.of(event.processor));
      began(event, *window, event.time_ns - std::min(event.time_ns, least_ns));
    }
    ends_.note(event);
    place.since_ns = event.time_ns;
    place.running = event.running != 0;
  }

  /// For each event what its thread had a processor for since the one before.
  void add_recorded(const RunEvent& event) {
    const Place& place = places_[event.track.index()];
    if (!place.running) return;
    for (size_t i = place.window; i < windows_.size() && windows_[i].track == event.track; ++i) {
      const uint64_t from = std::max(place.since_ns, windows_[i].begin.time_ns);
      const uint64_t until = std::min(event.time_ns, windows_[i].end.time_ns);
      if (from >= until) return;
      windows_[i].recorded_ns += until - from;
    }
  }

 private:
  struct Place {
    size_t window = SIZE_MAX;  // the first that is not over
    uint64_t since_ns = 0;
    bool running = false;
  };

  Window* window_at(Place& place, const RunEvent& event) {
    while (place.window < windows_.size() && windows_[place.window].end.time_ns <= event.time_ns) {
      const size_t next = place.window + 1;
      place.window = next < windows_.size() && windows_[next].track == event.track ? next : SIZE_MAX;
    }
    return place.window < windows_.size() ? &windows_[place.window] : nullptr;
  }

  std::vector<Window>& windows_;
  std::vector<Place> places_;  // by track
  ProcessorEnds ends_;
};

void measure(const RunStates& states, std::vector<Window>& windows) {
  Walk walk(windows, states.tracks.size());
  for (const RunEvent& event : states.events) {
    walk.add_recorded(event);
    walk.take(event, [](const RunEvent&, Window& window, uint64_t) { ++window.turns; });
  }
  // Turns that go on when the recording stops have no event for that.
  for (TrackId track{0}; track.index() < states.tracks.size(); ++track.value)
    walk.add_recorded({.time_ns = states.end.count, .track = track});
}

/// Where records were lost, a thread that lacks more than switches take has nothing shared out.
std::vector<CostGroup> make_groups(std::vector<Window>& windows, bool lossy) {
  std::vector<CostGroup> groups(1);  // the first is that of few turns
  for (Window& window : windows) {
    const double missing = window.charged_ns() - double(window.recorded_ns), turns = double(window.turns);
    if (window.turns >= kFewTurns || std::abs(missing) > turns * kMostCostNs) {
      window.group = uint32_t(groups.size());
      groups.push_back({});
    }
    const bool hidden = lossy && missing > turns * kMostCostOfLossyNs;
    groups[window.group].missing += hidden ? 0 : missing;
    groups[window.group].turns += turns;
  }
  return groups;
}

bool is_worth_a_walk(const std::vector<Window>& windows, const std::vector<CostGroup>& groups) {
  double charged = 0, missing = 0;
  for (const Window& window : windows) charged += window.charged_ns();
  for (const CostGroup& group : groups) missing += std::max(group.missing - group.placed, 0.0);
  return missing > charged / kWorthOneIn;
}

void find_costs(const RunStates& states, std::vector<Window>& windows, std::vector<CostGroup>& groups) {
  for (int round = 0; round < kMostRounds; ++round) {
    Walk walk(windows, states.tracks.size());
    for (const RunEvent& event : states.events)
      walk.take(event, [&](const RunEvent&, const Window& window, uint64_t room_ns) {
        groups[window.group].place(room_ns);
      });
    if (!is_worth_a_walk(windows, groups)) return;
    for (CostGroup& group : groups) group.reckon_cost();
  }
}

}  // namespace

void begin_turns_when_charged(Profile& profile, const std::vector<ThreadFacts>& facts) {
  RunStates& states = profile.run_states;
  if (states.source != RunStates::Source::kSwitches || misses_too_much(states)) return;
  std::vector<Window> windows = make_windows(profile, facts);
  measure(states, windows);
  std::vector<CostGroup> groups = make_groups(windows, states.lost != 0);
  if (!is_worth_a_walk(windows, groups)) return;
  find_costs(states, windows, groups);
  Walk walk(windows, states.tracks.size());
  for (RunEvent& event : states.events)
    walk.take(event, [&](RunEvent& turn, const Window& window, uint64_t room_ns) {
      turn.time_ns -= std::min(uint64_t(groups[window.group].cost), room_ns);
    });
  std::ranges::stable_sort(states.events, {}, &RunEvent::time_ns);
}

}  // namespace varve::load
