// SPDX-License-Identifier: MIT
// Times of observed runs made up, and what holds of any run states whatever they were read from. Context:
// tests.
#pragma once

#include <criterion/criterion.h>

#include <algorithm>
#include <vector>

#include "test/unit/time_units.h"
#include "viewer/analyze/stretches.h"
#include "viewer/load/profile.h"

namespace varve::test {

inline constexpr uint64_t kStart = 1'000 * kMs;

inline uint64_t at(uint64_t ms) { return kStart + ms * kMs; }

/// Events in the order of time, one state a thread at a time, tracks that are there.
inline void check_consistent(const load::Profile& profile) {
  const load::RunStates& states = profile.run_states;
  cr_assert(std::ranges::is_sorted(states.events, {}, &load::RunEvent::time_ns));
  std::vector<uint64_t> until(states.tracks.size());
  std::vector<bool> ended(states.tracks.size());
  for (const load::RunEvent& event : states.events) {
    cr_assert_lt(event.track.index(), states.tracks.size());
    cr_assert_leq(event.active(), load::RunEvent::kWhole);
    cr_assert(!ended[event.track.index()]);
    ended[event.track.index()] = event.ended;
    cr_assert_geq(event.time_ns, states.begin.count);
    cr_assert_leq(event.time_ns, states.end.count);
  }
  analyze::for_each_stretch(states, [&](const load::RunEvent& event, analyze::TimeRange range) {
    cr_assert_lt(range.begin, range.end);
    cr_assert_geq(range.begin, until[event.track.index()]);
    until[event.track.index()] = range.end;
  });
  for (const load::Thread& thread : profile.threads)
    cr_assert(!thread.track.valid() || thread.track.index() < states.tracks.size());
}

}  // namespace varve::test
