// SPDX-License-Identifier: MIT
// See switch_costs.h.
// Context: viewer.
#include "viewer/load/switch_costs.h"

#include <algorithm>
#include <tuple>

namespace varve::load {
namespace {

/// More than this is no switch: events that are missing, of a profile that was damaged or forged.
constexpr uint64_t kMostCostNs = 50'000;
/// Turns that follow those of other threads at once have no room, and the others make up for them: each round
/// leaves half of what is missing, if half of the turns have room.
constexpr int kMostRounds = 5;
/// Of the CPU time; less is not worth another walk through all events.
constexpr uint64_t kWorthOneIn = 1000;

/// What a thread did between the first and the last look at its clock. A track has one for each image.
struct Turns {
  TrackId track;
  uint64_t begin_ns, end_ns;
  uint64_t charged_ns;
  uint64_t recorded_ns = 0;
  uint64_t cost_ns = 0;    // of a switch to it
  uint64_t placed_ns = 0;  // of such costs, before turns that have room for them
  uint64_t roomy = 0;      // turns that have room for more

  bool has(uint64_t time_ns) const { return begin_ns <= time_ns && time_ns < end_ns; }

  /// What no turn has yet.
  uint64_t missing_ns() const { return charged_ns - std::min(charged_ns, recorded_ns + placed_ns); }
  /// To be called again when it is known which turns have room for what they cost.
  void reckon_cost() {
    if (roomy != 0) cost_ns = std::min(cost_ns + missing_ns() / roomy, kMostCostNs);
    placed_ns = roomy = 0;
  }
  void place(uint64_t room_ns) {
    placed_ns += std::min(cost_ns, room_ns);
    roomy += room_ns > cost_ns;
  }
};

/// The clock of a thread that is not its process's first one began with it; another's may have run before
/// anybody looked. Of a killed thread no clock was read at the end.
std::vector<Turns> turns_of_threads(const Profile& profile) {
  std::vector<Turns> all;
  for (const Thread& thread : profile.threads) {
    if (!thread.track.valid() || thread.told_start >= thread.told_end || thread.end_estimated) continue;
    const Track& track = profile.run_states.tracks[thread.track.index()];
    const bool from_start = !thread.is_main && track.start_seen;
    const Nanos begin = from_start ? track.start : thread.told_start;
    const Nanos charged = saturating_sub(thread.end_cpu, from_start ? Nanos{} : thread.start_cpu);
    all.push_back({thread.track, begin.count, thread.told_end.count, charged.count});
  }
  std::ranges::sort(all, {}, [](const Turns& turns) { return std::tuple(turns.track, turns.begin_ns); });
  return all;
}

/// When the last turn on each processor ended. The end of a turn does not say where that was.
class ProcessorEnds {
 public:
  explicit ProcessorEnds(size_t tracks) : runs_on_(tracks, RunEvent::kNoProcessor) {}

  uint64_t of(uint16_t processor) const { return processor < ends_ns_.size() ? ends_ns_[processor] : 0; }
  void note(const RunEvent& event) {
    uint16_t& processor = runs_on_[event.track.index()];
    if (event.running == 0 && processor != RunEvent::kNoProcessor) {
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
  Walk(std::vector<Turns>& turns, size_t tracks) : turns_(turns), places_(tracks), ends_(tracks) {
    for (size_t i = turns.size(); i-- > 0;) places_[turns[i].track.index()].turns = i;
  }

  /// Calls `began(event, turns, room_ns)` for each turn that begins between the looks at its thread's clock:
  /// so long neither the thread had a processor nor another one that processor.
  template <typename Event, typename Began>
  void take(Event& event, Began began) {
    Place& place = places_[event.track.index()];
    Turns* turns = turns_at(place, event);
    if (event.running != 0 && !place.running && turns && turns->has(event.time_ns))
      began(event, *turns, event.time_ns - std::max(place.since_ns, ends_.of(event.processor)));
    ends_.note(event);
    place.since_ns = event.time_ns;
    place.running = event.running != 0;
  }

  /// For each turn what it had before it.
  void add_recorded(const RunEvent& event) {
    const Place& place = places_[event.track.index()];
    if (!place.running) return;
    for (size_t i = place.turns; i < turns_.size() && turns_[i].track == event.track; ++i) {
      const uint64_t from = std::max(place.since_ns, turns_[i].begin_ns);
      const uint64_t until = std::min(event.time_ns, turns_[i].end_ns);
      if (from >= until) return;
      turns_[i].recorded_ns += until - from;
    }
  }

 private:
  struct Place {
    size_t turns = SIZE_MAX;  // row: the first that is not over
    uint64_t since_ns = 0;
    bool running = false;
  };

  Turns* turns_at(Place& place, const RunEvent& event) {
    while (place.turns < turns_.size() && turns_[place.turns].end_ns <= event.time_ns) {
      const bool more = place.turns + 1 < turns_.size() && turns_[place.turns + 1].track == event.track;
      place.turns = more ? place.turns + 1 : SIZE_MAX;
    }
    return place.turns < turns_.size() ? &turns_[place.turns] : nullptr;
  }

  std::vector<Turns>& turns_;
  std::vector<Place> places_;  // by track
  ProcessorEnds ends_;
};

bool is_worth_a_walk(const std::vector<Turns>& turns) {
  uint64_t charged_ns = 0, missing_ns = 0;
  for (const Turns& each : turns) charged_ns += each.charged_ns, missing_ns += each.missing_ns();
  return missing_ns > charged_ns / kWorthOneIn;
}

}  // namespace

void begin_turns_when_charged(Profile& profile) {
  RunStates& states = profile.run_states;
  if (states.source != RunStates::Source::kSwitches || states.lost != 0) return;
  std::vector<Turns> turns = turns_of_threads(profile);
  for (int round = 0; round < kMostRounds; ++round) {
    Walk walk(turns, states.tracks.size());
    for (const RunEvent& event : states.events) {
      if (round == 0) walk.add_recorded(event);
      walk.take(event, [](const RunEvent&, Turns& begun, uint64_t room_ns) { begun.place(room_ns); });
    }
    if (!is_worth_a_walk(turns)) break;
    for (Turns& each : turns) each.reckon_cost();
  }
  if (std::ranges::all_of(turns, [](const Turns& each) { return each.cost_ns == 0; })) return;
  Walk walk(turns, states.tracks.size());
  for (RunEvent& event : states.events)
    walk.take(event, [](RunEvent& turn, const Turns& begun, uint64_t room_ns) {
      turn.time_ns -= std::min(begun.cost_ns, room_ns);
    });
  std::ranges::stable_sort(states.events, {}, &RunEvent::time_ns);
}

}  // namespace varve::load
