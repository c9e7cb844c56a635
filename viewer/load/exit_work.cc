// SPDX-License-Identifier: MIT
// See exit_work.h.
// Context: viewer.
#include "viewer/load/exit_work.h"

#include <algorithm>

namespace varve::load {
namespace {

struct Exit {
  uint64_t since = UINT64_MAX;  // CLOCK_MONOTONIC
  const RunEvent* last = nullptr;
  uint64_t running_ns = 0;

  void add(const RunEvent& event) {
    const uint64_t begin = last ? std::max(last->time_ns, since) : event.time_ns;
    if (begin < event.time_ns && last->running) running_ns += event.time_ns - begin;
    last = &event;
  }
};

/// By track.
std::vector<Exit> exits_of(const Profile& profile, const std::vector<Nanos>& last_look) {
  const RunStates& states = profile.run_states;
  std::vector<Exit> exits(states.tracks.size());
  for (uint32_t i = 0; i < profile.threads.size(); ++i) {
    const Thread& thread = profile.threads[i];
    if (!thread.track.valid() || last_look[i] == Nanos{}) continue;
    if (thread.end_time == states.tracks[thread.track.index()].end)
      exits[thread.track.index()].since = last_look[i].count;
  }
  return exits;
}

}  // namespace

std::vector<Nanos> exit_work(const Profile& profile, const std::vector<Nanos>& last_look) {
  std::vector<Nanos> work(profile.threads.size());
  if (profile.run_states.source != RunStates::Source::kSwitches) return work;
  std::vector<Exit> exits = exits_of(profile, last_look);
  for (const RunEvent& event : profile.run_states.events) exits[event.track.index()].add(event);
  for (uint32_t i = 0; i < work.size(); ++i) {
    const Thread& thread = profile.threads[i];
    if (!thread.track.valid()) continue;
    const Exit& exit = exits[thread.track.index()];
    if (exit.since == last_look[i].count) work[i] = {exit.running_ns};
  }
  return work;
}

}  // namespace varve::load
