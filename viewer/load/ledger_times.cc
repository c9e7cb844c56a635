// SPDX-License-Identifier: MIT
// See ledger_times.h.
// Context: viewer.
#include "viewer/load/ledger_times.h"

#include <algorithm>
#include <iterator>

#include "viewer/load/row_groups.h"

namespace varve::load {
namespace {

/// Of what is shorter nobody asks for a part.
constexpr uint64_t kShortestSlice = 10 * kNanosPerMilli.count;
constexpr uint64_t kSlices = 64;
/// More pauses than this have the rest of the run as their last.
constexpr size_t kMostPauses = 100;
/// So often each event may be looked at: several rows of one track lie side by side, but in a damaged
/// profile.
constexpr uint64_t kLooksPerEvent = 8, kLooksAtLeast = 1'000'000;

struct Range {
  uint64_t begin, end;
};

struct Slice {
  Range range;
  double ran = 0;       // ns
  double longest = 0;   // ns that it ran in one stretch
  uint64_t moment = 0;  // in the middle of that: at its end the level already is that without the thread
};

void add_range(std::vector<Range>& ranges, Range range) {
  if (!ranges.empty() && (range.begin <= ranges.back().end || ranges.size() == kMostPauses))
    ranges.back().end = std::max(ranges.back().end, range.end);
  else
    ranges.push_back(range);
}

uint64_t length_of(const std::vector<Range>& ranges) {
  uint64_t sum = 0;
  for (const Range& range : ranges) sum += range.end - range.begin;
  return sum;
}

std::vector<Slice> slices_of(const std::vector<Range>& ranges) {
  const uint64_t length = std::max(kShortestSlice, length_of(ranges) / kSlices + 1);
  std::vector<Slice> slices;
  for (const Range& range : ranges)
    for (uint64_t begin = range.begin; begin < range.end;) {
      const uint64_t end = begin + std::min(length, range.end - begin);
      slices.push_back({{begin, end}});
      begin = end;
    }
  return slices;
}

class Placer {
 public:
  Placer(const Profile& profile, const std::vector<ThreadFacts>& facts)
      : profile_(profile),
        facts_(facts),
        events_(profile.run_states.tracks.size(), profile.run_states.events.size(),
                [&](size_t row) { return profile.run_states.events[row].track.index(); }),
        pauses_(profile.processes.size()),
        looks_(kLooksPerEvent * profile.run_states.events.size() + kLooksAtLeast) {
    for (const Pause& pause : profile.pauses)
      add_range(pause.process.valid() ? pauses_[pause.process.index()] : run_pauses_,
                {pause.begin.count, pause.end.count});
  }

  void place(const LedgerRow& row, std::vector<LedgerRow>& placed) {
    const std::vector<Range> ranges = row.thread.valid() ? ranges_of(row) : std::vector<Range>();
    if (length_of(ranges) == 0) return placed.push_back(row);
    std::vector<Slice> slices = slices_of(ranges);
    if (!add_running(profile_.threads[row.thread.index()].track, slices)) {
      if (row.kind != SpecialSite::kPaused) return placed.push_back(row);
      for (Slice& slice : slices) slice.ran = double(slice.range.end - slice.range.begin);
      for (Slice& slice : slices) slice.moment = slice.range.end;
    }
    share_out(row, slices, placed);
  }

 private:
  std::vector<Range> ranges_of(const LedgerRow& row) const {
    const Thread& thread = profile_.threads[row.thread.index()];
    if (row.kind == SpecialSite::kStartUp)  // until its agent began
      return {{thread.start_time.count, std::max(thread.start_time, thread.told_start).count}};
    const Range life{thread.start_time.count, row.time.count};
    if (life.begin >= life.end) return {};
    if (row.kind == SpecialSite::kPaused) return pauses_of(thread.process, life);
    if (row.kind != SpecialSite::kResidual && row.kind != SpecialSite::kNotSampled) return {};
    const uint64_t last = facts_[row.thread.index()].last_sample.count;
    return {{std::clamp(last, life.begin, life.end), life.end}};
  }

  std::vector<Range> pauses_of(ProcessId process, Range life) const {
    std::vector<Range> all, within;
    std::ranges::merge(run_pauses_, pauses_[process.index()], std::back_inserter(all), {}, &Range::begin,
                       &Range::begin);
    for (const Range& pause : all) {
      const Range range{std::max(pause.begin, life.begin), std::min(pause.end, life.end)};
      if (range.begin < range.end) add_range(within, range);
    }
    return within;
  }

  /// When the thread ran, into the slices, which are in the order of time. False where it is not known to
  /// have run in any.
  bool add_running(TrackId track, std::vector<Slice>& slices) {
    if (!track.valid()) return false;
    const std::vector<RunEvent>& all = profile_.run_states.events;
    const auto rows = events_.of(track.index());
    const auto time_of = [&](uint32_t row) { return all[row].time_ns; };
    auto row = std::ranges::upper_bound(rows, slices.front().range.begin, {}, time_of);
    if (row != rows.begin()) --row;
    bool ran = false;
    for (auto slice = slices.begin(); row != rows.end() && slice != slices.end() && looks_ > 0; ++row) {
      --looks_;
      const RunEvent& event = all[*row];
      const uint64_t end =
          std::next(row) == rows.end() ? profile_.run_states.end.count : time_of(*std::next(row));
      while (slice != slices.end() && slice->range.end <= event.time_ns) ++slice;
      if (event.running != 0 && !event.ended) ran |= add_stretch(event, end, slice, slices.end());
    }
    return ran;
  }

  static bool add_stretch(const RunEvent& event, uint64_t end, std::vector<Slice>::iterator slice,
                          std::vector<Slice>::iterator last) {
    bool ran = false;
    for (; slice != last && slice->range.begin < end; ++slice) {
      const uint64_t from = std::max(event.time_ns, slice->range.begin), to = std::min(end, slice->range.end);
      if (from >= to) continue;
      const double length = double(to - from) * event.running / RunEvent::kWhole;
      slice->ran += length;
      if (length > slice->longest) slice->longest = length, slice->moment = from + (to - from + 1) / 2;
      ran = true;
    }
    return ran;
  }

  /// Each slice has its part of what is left, so the last has all of the rest.
  static void share_out(const LedgerRow& row, const std::vector<Slice>& slices,
                        std::vector<LedgerRow>& placed) {
    double ran = 0;
    for (const Slice& slice : slices) ran += slice.ran;
    const auto ran_in = [](const Slice& slice) { return slice.ran != 0; };
    const Slice* last = &*std::find_if(slices.rbegin(), slices.rend(), ran_in);
    uint64_t left = row.weight.count;
    for (auto slice = slices.begin(); slice != slices.end() && left > 0; ++slice) {
      if (!ran_in(*slice)) continue;
      // Of less than kMostCpuNs, so a product that was rounded is still a number.
      const auto share = uint64_t(double(left) * (ran > slice->ran ? slice->ran / ran : 1.0));
      const uint64_t part = &*slice == last ? left : std::min(left, share);
      ran -= slice->ran;
      left -= part;
      if (part) placed.push_back({row.thread, {slice->moment}, {part}, row.path, row.kind});
    }
  }

  const Profile& profile_;
  const std::vector<ThreadFacts>& facts_;
  const RowGroups events_;                  // by track
  std::vector<Range> run_pauses_;           // of the whole run
  std::vector<std::vector<Range>> pauses_;  // of one process, by process
  uint64_t looks_;                          // at events, that are left
};

}  // namespace

std::vector<LedgerRow> place_in_time(const Profile& profile, const std::vector<ThreadFacts>& facts,
                                     const std::vector<LedgerRow>& rows) {
  Placer placer(profile, facts);
  std::vector<LedgerRow> placed;
  placed.reserve(rows.size());
  for (const LedgerRow& row : rows) placer.place(row, placed);
  return placed;
}

}  // namespace varve::load
