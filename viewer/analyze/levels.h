// SPDX-License-Identifier: MIT
// Levels: how many threads were running, and how many were active (running or ready), at every moment of a
// run; how long each level lasted; and how the concurrency splits into that within a process and that between
// processes. Not the judgement of a level: bands.h. Context: viewer.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "viewer/analyze/counted_time.h"
#include "viewer/analyze/stretches.h"
#include "viewer/load/run_states.h"

namespace varve::analyze {

/// From `time_ns` until the next row. Sums of shares: load::RunEvent::kWhole is one thread. Whole numbers of
/// threads where switches were recorded; from sweeps means over a stretch.
struct Level {
  uint64_t time_ns = 0;
  uint64_t running = 0;
  uint64_t active = 0;
};

using PassTrack = std::function<bool(TrackId)>;

class Levels {
 public:
  Levels() = default;
  /// Of the threads that pass, within the time that was observed and `range`.
  Levels(const load::RunStates& states, TimeRange range, const PassTrack& pass, CountedTime counted = {});

  bool known() const { return !rows_.empty(); }
  TimeRange range() const { return range_; }
  const std::vector<Level>& rows() const { return rows_; }  // by time; the last lasts until the range ends
  uint64_t end_of(size_t row) const { return row + 1 < rows_.size() ? rows_[row + 1].time_ns : range_.end; }

  /// The time of the range that levels, bands and shares are of.
  uint64_t elapsed() const { return counted_.in(range_); }
  const CountedTime& counted() const { return counted_; }

 private:
  CountedTime counted_;
  std::vector<Level> rows_;
  TimeRange range_;
};

/// Adds `length` to the two whole levels around a sum of shares, which `time` is made long enough for.
void add_time(std::vector<uint64_t>& time, uint64_t level, uint64_t length);

/// Elapsed time, in ns, by level: element i is the time at level i. The sum is Levels::elapsed(). A mean
/// between two whole levels is time at both of them: the split with the least variance that has this mean.
std::vector<uint64_t> time_by_level(const Levels& levels, uint64_t Level::*count);

/// The same for groups of threads, each within a range of its own, in one pass over all events:
/// time_by_level() of each group, by threads running. `group_of` has a row each of the tracks: an index into
/// `ranges`.
std::vector<std::vector<uint64_t>> running_time_by_group(const load::RunStates& states,
                                                         std::span<const TimeRange> ranges,
                                                         std::span<const uint32_t> group_of,
                                                         const CountedTime& counted = {});
/// In group_of: a thread of no group.
inline constexpr uint32_t kNoGroup = UINT32_MAX;

/// Of the pairs of threads that ran at the same time, weighted by how long they did: the share whose two
/// threads belong to one process, and the share of the others. Both 0 where no two ever ran together.
struct PairShares {
  double within_process = 0;
  double between_processes = 0;
};
/// Of the threads that pass.
PairShares pair_shares(const load::RunStates& states, TimeRange range, const PassTrack& pass,
                       const CountedTime& counted = {});

}  // namespace varve::analyze
