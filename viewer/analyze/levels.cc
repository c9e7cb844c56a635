// SPDX-License-Identifier: MIT
// One pass over the events in the order of time, with the present state of every thread.
// Context: viewer.
#include "viewer/analyze/levels.h"

#include <unordered_map>

namespace varve::analyze {

using load::RunEvent;

Levels::Levels(const load::RunStates& states, TimeRange range, const PassTrack& pass, CountedTime counted)
    : counted_(std::move(counted)), range_(TimeRange{states.begin.count, states.end.count}.within(range)) {
  if (!states.known() || range_.length() == 0) return;
  struct Present {
    uint16_t running = 0, ready = 0;
  };
  std::vector<Present> present(states.tracks.size());
  std::vector<bool> counts(states.tracks.size());
  for (uint32_t i = 0; i < counts.size(); ++i) counts[i] = pass({i});
  rows_.reserve(states.events.size() + 1);  // what no row touches is no memory
  rows_.push_back({range_.begin, 0, 0});
  uint64_t running = 0, active = 0;
  for (const RunEvent& event : states.events) {
    if (event.time_ns >= range_.end) break;
    if (!counts[event.track.index()]) continue;
    Present& now = present[event.track.index()];
    running += uint64_t(event.running) - now.running;  // modulo 2^64, and back
    active += uint64_t(event.active()) - now.running - now.ready;
    now = {event.running, event.ready};
    Level& row = rows_.back();
    if (event.time_ns <= row.time_ns)
      row.running = running, row.active = active;
    else if (row.running != running || row.active != active)
      rows_.push_back({event.time_ns, running, active});
  }
}

void add_time(std::vector<uint64_t>& time, uint64_t level, uint64_t length) {
  const size_t below = level / RunEvent::kWhole;
  const uint64_t above_part = part_of(length, uint32_t(level % RunEvent::kWhole));
  if (time.size() < below + 2) time.resize(below + 2);
  time[below] += length - above_part;
  time[below + 1] += above_part;
}

namespace {

void trim(std::vector<uint64_t>& time) {
  while (time.size() > 1 && time.back() == 0) time.pop_back();
}

}  // namespace

std::vector<uint64_t> time_by_level(const Levels& levels, uint64_t Level::*count) {
  std::vector<uint64_t> time(1);
  for (size_t i = 0; i < levels.rows().size(); ++i)
    add_time(time, levels.rows()[i].*count,
             levels.counted().in({levels.rows()[i].time_ns, levels.end_of(i)}));
  trim(time);
  return time;
}

std::vector<std::vector<uint64_t>> running_time_by_group(const load::RunStates& states,
                                                         std::span<const TimeRange> ranges,
                                                         std::span<const uint32_t> group_of,
                                                         const CountedTime& counted) {
  std::vector<std::vector<uint64_t>> time(ranges.size(), std::vector<uint64_t>(1));
  std::vector<uint64_t> running(ranges.size()), since(ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) since[i] = ranges[i].begin;
  const auto pass_time = [&](size_t group, uint64_t until) {
    until = std::min(until, ranges[group].end);
    if (until <= since[group]) return;
    add_time(time[group], running[group], counted.in({since[group], until}));
    since[group] = until;
  };
  std::vector<uint16_t> present(states.tracks.size());
  for (const RunEvent& event : states.events) {
    const uint32_t group = group_of[event.track.index()];
    if (group == kNoGroup) continue;
    pass_time(group, event.time_ns);
    running[group] += uint64_t(event.running) - present[event.track.index()];  // modulo 2^64, and back
    present[event.track.index()] = event.running;
  }
  for (size_t i = 0; i < ranges.size(); ++i) {
    pass_time(i, ranges[i].end);
    trim(time[i]);
  }
  return time;
}

namespace {

/// Pairs among numbers that are added and taken away: (sum^2 - sum of squares) / 2, each in threads.
class Pairs {
 public:
  void change(double from, double to) {
    sum_ += to - from;
    squares_ += to * to - from * from;
  }
  double count() const { return (sum_ * sum_ - squares_) / 2; }

 private:
  double sum_ = 0, squares_ = 0;
};

}  // namespace

PairShares pair_shares(const load::RunStates& states, TimeRange range, const PassTrack& pass,
                       const CountedTime& counted) {
  Pairs all;
  std::unordered_map<int32_t, Pairs> by_pid;
  std::vector<double> present(states.tracks.size());
  double within = 0, pairs_within = 0, total = 0;
  uint64_t since = range.begin;
  auto pass_time = [&](uint64_t until) {
    until = std::clamp(until, range.begin, range.end);
    const auto length = double(counted.in({since, until}));
    within += pairs_within * length;
    total += all.count() * length;
    since = std::max(since, until);
  };
  for (const RunEvent& event : states.events) {
    if (!pass(event.track)) continue;
    pass_time(event.time_ns);
    double& now = present[event.track.index()];
    double next = double(event.running) / RunEvent::kWhole;
    if (next == now) continue;
    Pairs& process = by_pid[states.tracks[event.track.index()].pid];
    pairs_within -= process.count();
    process.change(now, next);
    pairs_within += process.count();
    all.change(now, next);
    now = next;
  }
  pass_time(states.end.count);
  if (total < 1) return {};
  // Sums of fractions are not exact.
  const double share = std::clamp(within / total, 0.0, 1.0);
  return {share, 1 - share};
}

}  // namespace varve::analyze
