// SPDX-License-Identifier: MIT
// See counted_waits.h.
// Context: viewer.
#include "viewer/analyze/counted_waits.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "viewer/analyze/concurrency.h"
#include "viewer/analyze/thread_states.h"
#include "viewer/analyze/track_threads.h"

namespace varve::analyze {
namespace {

using load::Wait;

TimeRange range_of(const Wait& wait) { return {wait.begin_ns(), wait.end_ns}; }

std::span<const Wait> waits_of(const load::Profile& profile, ThreadId thread) {
  const auto first = std::ranges::lower_bound(profile.waits.waits, thread, {}, &Wait::thread);
  return {first, std::ranges::upper_bound(first, profile.waits.waits.end(), thread, {}, &Wait::thread)};
}

/// When a sum of short waits was nobody knows; its last, taken to be as long as the mean, stands for all of
/// it. Less of its end would not do: there the thread has been woken up, and is active itself.
TimeRange moment_of(const Wait& wait) {
  constexpr uint64_t kLeast = 1000;
  const uint64_t mean = wait.duration_ns / std::max(wait.count, 1u);
  return !wait.is_sum() ? range_of(wait)
                        : TimeRange{wait.end_ns - std::min(wait.end_ns, std::max(mean, kLeast)), wait.end_ns};
}

constexpr uint32_t kNone = UINT32_MAX;

/// A wait that is not a sum of several: of those nobody knows when they were. A thread that a signal
/// interrupts in a wait may wait in the handler, so one may lie in another.
struct Single {
  uint32_t row = 0;        // of Waits::waits
  uint32_t outer = kNone;  // the innermost that it lies in, as a place in the list
};

/// By thread, then by end.
std::vector<Single> single_waits(const std::vector<Wait>& waits) {
  std::vector<Single> singles;
  std::vector<uint32_t> open;
  for (uint32_t row = 0; row < waits.size(); ++row) {
    if (waits[row].is_sum()) continue;
    const auto lies_in_it = [&](const Wait& inner) {
      return inner.thread == waits[row].thread && inner.begin_ns() >= waits[row].begin_ns();
    };
    while (!open.empty() && lies_in_it(waits[singles[open.back()].row])) {
      singles[open.back()].outer = uint32_t(singles.size());
      open.pop_back();
    }
    open.push_back(uint32_t(singles.size()));
    singles.push_back({row});
  }
  return singles;
}

/// How long a wait kept its thread from running, and in which bands that was.
struct Blocked {
  uint64_t time_ns = 0;
  uint64_t moments_ns = 0;   // of the moments whose bands count for it
  BandTimes::Times bands{};  // of these; what was not observed is in none
  bool never = false;        // by its switches the thread went on running: a call that took long, no wait

  void add(const Blocked& other) {
    time_ns += other.time_ns;
    moments_ns += other.moments_ns;
    for (size_t band = 0; band < kBands; ++band) bands[band] += other.bands[band];
  }
  void subtract(const Blocked& inner) {
    time_ns -= std::min(time_ns, inner.time_ns);
    moments_ns -= std::min(moments_ns, inner.moments_ns);
    uint64_t in_bands = 0;
    for (size_t band = 0; band < kBands; ++band) {
      bands[band] -= std::min(bands[band], inner.bands[band]);
      // What overlaps, as a damaged profile says, is taken away from one of them only.
      bands[band] = std::min(bands[band], moments_ns - in_bands);
      in_bands += bands[band];
    }
  }
};

/// Handlers interrupt each other only so deep, but a damaged profile may say what it likes.
constexpr int kDeepest = 64;

/// Adds what of the range a thread was blocked in a stretch to those of its waits that lie there, outer ones
/// included.
void add_blocked(const std::vector<Wait>& waits, ThreadId thread, TimeRange stretch, TimeRange counts,
                 const BandTimes& bands, const std::vector<Single>& singles, std::vector<Blocked>& blocked) {
  const auto after = std::ranges::upper_bound(
      singles, std::tuple(thread, stretch.begin), {},
      [&](Single each) { return std::tuple(waits[each.row].thread, waits[each.row].end_ns); });
  int around = 0;  // waits of which the stretch is a part, or that lie around what comes after it
  for (auto place = size_t(after - singles.begin()); place < singles.size() && around < kDeepest;) {
    const auto [row, outer] = singles[place];
    const TimeRange range = range_of(waits[row]);
    if (waits[row].thread != thread) return;
    if (range.begin >= stretch.end || range.end > stretch.end) ++around;
    if (range.begin < stretch.end) {
      const TimeRange whole = stretch.within(range), part = whole.within(counts);
      if (whole.length() > 0) blocked[row].never = false;
      if (part.length() > 0) blocked[row].add({part.length(), part.length(), bands.of(part), false});
      ++place;
    } else if (outer != kNone) {
      place = outer;
    } else {
      return;
    }
  }
}

/// A moment counts for the innermost wait alone.
void take_inner_from_outer(const std::vector<Single>& singles, std::vector<Blocked>& blocked) {
  std::vector<Blocked> inner(blocked.size());
  for (const Single& each : singles)
    if (each.outer != kNone) inner[singles[each.outer].row].add(blocked[each.row]);
  for (size_t row = 0; row < blocked.size(); ++row) blocked[row].subtract(inner[row]);
}

void add_observed(const load::Profile& profile, TimeRange range, const BandTimes& bands,
                  const std::vector<Single>& singles, std::vector<Blocked>& blocked) {
  const TrackThreads threads(profile);
  for_each_stretch(profile.run_states, [&](const load::RunEvent& event, TimeRange stretch) {
    if (event.active() != 0) return;
    for (const TrackThreads::Part& part : threads.of(event.track, stretch))
      add_blocked(profile.waits.waits, part.thread, stretch.within(part.range), range, bands, singles,
                  blocked);
  });
}

/// Reading and writing takes time of the processor, too.
bool may_be_work(const load::Profile& profile, const Wait& wait) {
  return wait.kind == format::ObjectKind::kDescriptor && profile.threads[wait.thread.index()].track.valid() &&
         profile.run_states.lost == 0;
}

/// By row of Waits::waits. Switches tell when a thread was blocked; sweeps only how long, so the hook's time
/// stands. So it does for sums of short ones, of which nobody knows when they were.
std::vector<Blocked> blocked_time(const load::Profile& profile, TimeRange range, const BandTimes& bands) {
  const std::vector<Wait>& waits = profile.waits.waits;
  std::vector<Blocked> blocked(waits.size());
  const bool exact = profile.run_states.source == load::RunStates::Source::kSwitches;
  for (size_t i = 0; i < waits.size(); ++i) {
    const bool observed = exact && profile.threads[waits[i].thread.index()].track.valid();
    if (!waits[i].is_sum() && observed) continue;
    if (!waits[i].is_sum())
      blocked[i].time_ns = range_of(waits[i]).within(range).length();
    else if (range.has(waits[i].end_ns))
      blocked[i].time_ns = waits[i].duration_ns;
    const TimeRange moment = moment_of(waits[i]).within(range);
    blocked[i].moments_ns = moment.length();
    blocked[i].bands = bands.of(moment);
  }
  const std::vector<Single> singles = single_waits(waits);
  if (exact) {
    for (const Single& each : singles) blocked[each.row].never = may_be_work(profile, waits[each.row]);
    add_observed(profile, range, bands, singles, blocked);
  }
  take_inner_from_outer(singles, blocked);
  return blocked;
}

/// A thread's waits are no longer than its Wait: what is too much is taken from the short ones first, whose
/// time is a hook's, then from all.
void fit(std::span<const Wait> waits, std::span<Blocked> times, uint64_t most) {
  for (const bool shorts : {true, false}) {
    uint64_t sum = 0, part = 0;
    for (size_t i = 0; i < waits.size(); ++i) {
      sum += times[i].time_ns;
      if (!shorts || waits[i].is_sum()) part += times[i].time_ns;
    }
    if (sum <= most || part == 0) continue;
    const double kept = double(part - std::min(part, sum - most)) / double(part);
    for (size_t i = 0; i < waits.size(); ++i)
      if (!shorts || waits[i].is_sum()) times[i].time_ns = uint64_t(double(times[i].time_ns) * kept);
  }
}

void fit_all(const load::Profile& profile, TimeRange range, std::vector<Blocked>& times) {
  const std::vector<ThreadStates> states = settled_states(profile, range);
  for (uint32_t thread = 0; thread < states.size(); ++thread) {
    const std::span<const Wait> waits = waits_of(profile, {thread});
    if (!states[thread].known || waits.empty()) continue;
    const auto first = size_t(waits.data() - profile.waits.waits.data());
    fit(waits, std::span(times).subspan(first, waits.size()), states[thread].waiting_ns());
  }
}

/// The time of the wait as the bands of its moments have parts of it.
BandTimes::Times bands_of(const Blocked& blocked) {
  const uint64_t whole = blocked.moments_ns;
  if (whole == 0 || whole == blocked.time_ns) return blocked.bands;
  BandTimes::Times parts = blocked.bands;
  for (uint64_t& part : parts) part = uint64_t(double(part) / double(whole) * double(blocked.time_ns));
  return parts;
}

}  // namespace

std::vector<CountedWait> counted_waits(const load::Profile& profile, TimeRange range,
                                       const Concurrency& concurrency) {
  const BandTimes bands(concurrency.levels, concurrency.rule);
  std::vector<Blocked> times = blocked_time(profile, range, bands);
  fit_all(profile, range, times);
  std::vector<CountedWait> counted;
  for (uint32_t row = 0; row < times.size(); ++row) {
    const Wait& wait = profile.waits.waits[row];
    const bool ends = range.has(wait.end_ns);
    if (times[row].never || (times[row].time_ns == 0 && !ends)) continue;
    counted.push_back({row, times[row].time_ns, ends ? wait.count : 0u, bands_of(times[row])});
  }
  return counted;
}

std::vector<uint64_t> unseen_waits(const load::Profile& profile, TimeRange range,
                                   const std::vector<CountedWait>& counted) {
  const std::vector<ThreadStates> states = settled_states(profile, range);
  std::vector<uint64_t> unseen(profile.threads.size());
  for (uint32_t i = 0; i < unseen.size(); ++i)
    if (states[i].known) unseen[i] = states[i].waiting_ns();
  for (const CountedWait& each : counted) {
    uint64_t& left = unseen[profile.waits.waits[each.row].thread.index()];
    left -= std::min(left, each.time_ns);
  }
  return unseen;
}

}  // namespace varve::analyze
