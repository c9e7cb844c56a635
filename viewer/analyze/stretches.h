// SPDX-License-Identifier: MIT
// Run states as stretches: of one thread, from an event to its next. Each analysis of states over time is a
// sum over stretches. Context: viewer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "viewer/load/run_states.h"

namespace varve::analyze {

/// A time on CLOCK_MONOTONIC from `begin` until before `end`, in ns.
struct TimeRange {
  uint64_t begin = 0;
  uint64_t end = UINT64_MAX;

  uint64_t length() const { return end > begin ? end - begin : 0; }
  bool has(uint64_t time_ns) const { return time_ns >= begin && time_ns < end; }
  TimeRange within(TimeRange other) const {
    TimeRange part{std::max(begin, other.begin), std::min(end, other.end)};
    if (part.end < part.begin) part.end = part.begin;
    return part;
  }
};

/// Starts and ends of threads are told by two clocks' readings: so far from the observed time they still
/// belong to its first or last moment.
inline constexpr uint64_t kNearNs = 50'000'000;

/// whole * numerator / denominator, rounded down, without overflow as long as numerator <= denominator <
/// 2^32.
constexpr uint64_t scaled(uint64_t whole, uint64_t numerator, uint64_t denominator) {
  return whole / denominator * numerator + whole % denominator * numerator / denominator;
}

/// The part of `whole` that a share of RunEvent stands for.
constexpr uint64_t part_of(uint64_t whole, uint32_t share) {
  return scaled(whole, share, load::RunEvent::kWhole);
}

/// Calls use(event, range) for each stretch of each thread, a thread's in the order of time. No two of a
/// thread overlap, and the last of a thread that did not end lasts until observation ended.
template <typename Use>
void for_each_stretch(const load::RunStates& states, Use use) {
  std::vector<uint32_t> last(states.tracks.size(), UINT32_MAX);
  auto close = [&](uint32_t event, uint64_t end_ns) {
    if (event == UINT32_MAX || states.events[event].ended) return;
    if (states.events[event].time_ns < end_ns)
      use(states.events[event], TimeRange{states.events[event].time_ns, end_ns});
  };
  for (uint32_t i = 0; i < states.events.size(); ++i) {
    uint32_t& of_track = last[states.events[i].track.index()];
    close(of_track, states.events[i].time_ns);
    of_track = i;
  }
  for (uint32_t event : last) close(event, states.end.count);
}

}  // namespace varve::analyze
