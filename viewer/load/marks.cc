// SPDX-License-Identifier: MIT
// Marks and pauses. See marks.h.
// Context: viewer.
#include "viewer/load/marks.h"

#include <algorithm>

namespace varve::load {
namespace {

/// When somebody said that there are to be no samples, or some again.
struct Turn {
  Nanos time;
  bool paused;
};

Nanos end_of_run(const Profile& profile) { return profile.session.start_time + profile.session.elapsed; }

/// Between a turn to paused and the next one back; a pause that nobody ended lasts until `end`.
void add_pauses(Profile& profile, ProcessId process, std::vector<Turn> turns, Nanos end) {
  std::ranges::stable_sort(turns, {}, &Turn::time);
  Nanos begin;
  bool paused = false;
  auto finish = [&](Nanos until) {
    if (paused && begin < until) profile.pauses.push_back({process, begin, until});
  };
  for (const Turn& turn : turns) {
    if (turn.paused == paused) continue;
    finish(turn.time);
    paused = turn.paused;
    begin = turn.time;
  }
  finish(end);
}

}  // namespace

void add_run_pauses(Profile& profile, std::vector<format::ControlChange> changes) {
  using format::ControlState;
  std::vector<Turn> turns;
  for (const format::ControlChange& change : changes) {
    auto state = ControlState(change.state);
    // Before the command's exec there was nothing to pause.
    Nanos time = std::max(Nanos{change.time_ns}, profile.session.start_time);
    turns.push_back({time, state == ControlState::kPaused || state == ControlState::kDelayed});
  }
  add_pauses(profile, ProcessId::none(), std::move(turns), end_of_run(profile));
}

void add_process_marks(Profile& profile, ProcessId process, const std::vector<AgentMark>& marks,
                       const std::function<ThreadId(uint32_t)>& thread_of) {
  std::vector<Turn> turns;
  for (const AgentMark& mark : marks) {
    if (mark.kind == format::MarkKind::kMark)
      profile.marks.push_back({process, thread_of(mark.thread), mark.time, mark.name});
    else
      turns.push_back({mark.time, mark.kind == format::MarkKind::kPause});
  }
  Nanos end = profile.processes[process.index()].end_time;
  add_pauses(profile, process, std::move(turns), end == Nanos{} ? end_of_run(profile) : end);
}

void sort_marks(Profile& profile) {
  std::ranges::stable_sort(profile.marks, {}, &Mark::time);
  std::ranges::stable_sort(profile.pauses, {}, &Pause::begin);
}

}  // namespace varve::load
