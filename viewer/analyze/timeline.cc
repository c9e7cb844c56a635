// SPDX-License-Identifier: MIT
// See timeline.h.
// Context: viewer.
#include "viewer/analyze/timeline.h"

#include <algorithm>
#include <array>

#include "viewer/analyze/track_threads.h"

namespace varve::analyze {
namespace {

using load::RunEvent;

/// Time of a slice by what was done in it: running, ready, then the kinds of waits.
constexpr size_t kRun = 0, kReady = 1, kFirstWait = 2;
using Parts = std::array<uint64_t, kFirstWait + size_t(WaitKind::kCount)>;

SliceState most_of(const Parts& parts) {
  size_t most = size_t(std::ranges::max_element(parts) - parts.begin());
  if (parts[most] == 0) return {};
  if (most == kRun) return {RunState::kRunning, WaitKind::kOther};
  if (most == kReady) return {RunState::kReady, WaitKind::kOther};
  return {RunState::kBlocked, WaitKind(most - kFirstWait)};
}

/// A thread's slices are filled in their order, so only one of them at a time needs its parts: there may be
/// hundreds of thousands of threads.
class RowFiller {
 public:
  void add(Timeline& line, size_t row, size_t slice, const RunEvent& event, uint64_t length) {
    if (slice != slice_) finish(line, row);
    slice_ = slice;
    const uint64_t running = part_of(length, event.running);
    const uint64_t ready = std::min(part_of(length, event.ready), length - running);
    parts_[kRun] += running;
    parts_[kReady] += ready;
    parts_[kFirstWait + size_t(event.wait)] += length - running - ready;
  }
  void finish(Timeline& line, size_t row) {
    if (slice_ < line.slices) line.states[row * line.slices + slice_] = most_of(parts_);
    parts_ = {};
  }

 private:
  size_t slice_ = SIZE_MAX;
  Parts parts_{};
};

void add_states(Timeline& line, const load::Profile& profile) {
  line.states.resize(line.threads.size() * line.slices);
  std::vector<size_t> row_of(profile.threads.size(), SIZE_MAX);
  for (size_t i = 0; i < line.threads.size(); ++i) row_of[line.threads[i].index()] = i;
  std::vector<RowFiller> rows(line.threads.size());
  const TrackThreads track_threads(profile);
  for_each_stretch(profile.run_states, [&](const RunEvent& event, TimeRange stretch) {
    for (const TrackThreads::Part& of : track_threads.of(event.track, stretch)) {
      const size_t row = row_of[of.thread.index()];
      if (row == SIZE_MAX) continue;
      for_each_slice(line, stretch.within(of.range), [&](size_t slice, TimeRange part) {
        rows[row].add(line, row, slice, event, part.length());
      });
    }
  });
  for (size_t row = 0; row < rows.size(); ++row) rows[row].finish(line, row);
}

void add_running(Timeline& line, const Levels& levels) {
  line.running.assign(line.slices, 0);
  line.active.assign(line.slices, 0);
  for (size_t i = 0; i < levels.rows().size(); ++i) {
    const Level& level = levels.rows()[i];
    for_each_slice(line, {level.time_ns, levels.end_of(i)}, [&](size_t slice, TimeRange part) {
      double whole = double(line.begin_of(slice + 1) - line.begin_of(slice)) * RunEvent::kWhole;
      line.running[slice] += double(level.running) * double(part.length()) / whole;
      line.active[slice] += double(level.active) * double(part.length()) / whole;
    });
  }
}

}  // namespace

uint64_t Timeline::begin_of(size_t slice) const {
  return range.begin + scaled(range.length(), slice, slices);
}

Timeline timeline(const load::Profile& profile, const Levels& levels, TimeRange range, size_t slices,
                  std::vector<ThreadId> threads) {
  Timeline line;
  line.range = range.within(levels.range());
  line.slices = line.range.length() ? slices : 0;
  line.threads = std::move(threads);
  if (line.slices == 0) return line;
  add_running(line, levels);
  add_states(line, profile);
  return line;
}

}  // namespace varve::analyze
