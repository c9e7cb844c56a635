// SPDX-License-Identifier: MIT
// A profile of two threads whose run states are known to the millisecond, for tests of waits. Context: tests.
#pragma once

#include "test/unit/random_profile.h"
#include "test/unit/time_units.h"
#include "viewer/analyze/concurrency.h"

namespace varve::test {

/// Two threads of one process, observed: "holder" runs all the time, "waiter" is blocked from 10 to 40 ms.
inline RandomProfile two_threads() {
  RandomProfile made;
  load::Profile& profile = made.profile;
  profile.session.elapsed = {100 * kMs};
  profile.session.processors = 2;
  profile.session.texts = {{"affinity", "0-1"}, {"cores", "2"}};
  profile.processes.push_back({});
  profile.paths = {{}};
  load::RunStates& states = profile.run_states;
  states.source = load::RunStates::Source::kSwitches;
  states.end = {100 * kMs};
  for (uint32_t i = 0; i < 2; ++i) {
    load::Thread thread;
    thread.process = {0};
    thread.tid = int32_t(100 + i);
    thread.track = {i};
    thread.end_time = {100 * kMs};
    profile.threads.push_back(thread);
    load::Track track;
    track.tid = thread.tid;
    track.start_seen = true;
    track.end = thread.end_time;
    states.tracks.push_back(track);
  }
  const auto event = [&](uint64_t ms, uint32_t track, bool runs) {
    load::RunEvent row;
    row.time_ns = ms * kMs;
    row.track = {track};
    row.running = runs ? load::RunEvent::kWhole : uint16_t(0);
    states.events.push_back(row);
  };
  event(0, 0, true), event(0, 1, true), event(10, 1, false), event(40, 1, true);
  return made;
}

inline analyze::Concurrency concurrency_of(const load::Profile& profile) {
  return analyze::concurrency(profile, {}, {});
}

}  // namespace varve::test
