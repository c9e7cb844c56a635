// SPDX-License-Identifier: MIT
// See band_moments.h.
// Context: viewer.
#include "viewer/analyze/band_moments.h"

#include <algorithm>

#include "viewer/analyze/thread_states.h"
#include "viewer/analyze/track_threads.h"

namespace varve::analyze {
namespace {

uint64_t chosen(const BandTimes::Times& times, const BandSet& bands) {
  uint64_t sum = 0;
  for (size_t band = 0; band < kBands; ++band)
    if (bands[band]) sum += times[band];
  return sum;
}

/// A row each of Profile::threads. From sweeps a stretch is a mean, so its parts are in all of its bands.
std::vector<ThreadTime> thread_times(const load::Profile& profile, const Concurrency& concurrency,
                                     const BandSet& bands) {
  const BandTimes times(concurrency.levels, concurrency.rule);
  const TrackThreads threads(profile);
  std::vector<ThreadTime> result(profile.threads.size());
  for_each_stretch(profile.run_states, [&](const load::RunEvent& event, TimeRange stretch) {
    if (!concurrency.tracks[event.track.index()]) return;
    for (const TrackThreads::Part& part : threads.of(event.track, stretch)) {
      const uint64_t length =
          chosen(times.of(stretch.within(part.range).within(concurrency.levels.range())), bands);
      ThreadTime& time = result[part.thread.index()];
      const uint64_t running = part_of(length, event.running);
      const uint64_t ready = std::min(part_of(length, event.ready), length - running);
      time.running_ns += running;
      time.ready_ns += ready;
      time.waiting_ns += length - running - ready;
    }
  });
  return result;
}

/// What the thread ran and no sample accounts for, as a share of what it ran. A percent is a difference of
/// clocks.
double unsampled_share(const ThreadStates& settled) {
  constexpr double kDifference = 0.01;
  if (settled.running_ns == 0) return 0;
  const double share = 1 - double(settled.clocked_ns) / double(settled.running_ns);
  return share > kDifference ? share : 0;
}

/// The thread's own clock is the truth for CPU time: in a program that switches all the time the kernel's
/// work for that is a part of it that switches tell as a wait. What a thread ran more than was observed is
/// taken from its waits, in the bands as it ran in them; what it ran less it was ready.
void settle(ThreadTime& time, double ratio) {
  const auto wanted = uint64_t(double(time.running_ns) * ratio);
  if (wanted < time.running_ns) {
    time.ready_ns += time.running_ns - wanted;
    time.running_ns = wanted;
    return;
  }
  const uint64_t more = std::min(wanted - time.running_ns, time.waiting_ns);
  time.running_ns += more;
  time.waiting_ns -= more;
}

void settle(const load::Profile& profile, TimeRange range, std::vector<ThreadTime>& times) {
  const std::vector<ThreadStates> observed = thread_states(profile, range),
                                  settled = settled_states(profile, range);
  for (size_t i = 0; i < times.size(); ++i) {
    if (settled[i].known && observed[i].running_ns != 0)
      settle(times[i], double(settled[i].running_ns) / double(observed[i].running_ns));
    times[i].unsampled_ns = uint64_t(double(times[i].running_ns) * unsampled_share(settled[i]));
  }
}

/// Waits with their time in the bands only, no more of a thread's than it waited in them.
std::vector<CountedWait> waits_in(const load::Profile& profile, std::vector<CountedWait> counted,
                                  const BandSet& bands, const std::vector<ThreadTime>& threads) {
  std::vector<uint64_t> sums(threads.size());
  for (CountedWait& each : counted) {
    each.time_ns = chosen(each.bands, bands);
    sums[profile.waits.waits[each.row].thread.index()] += each.time_ns;
  }
  for (CountedWait& each : counted) {
    const size_t thread = profile.waits.waits[each.row].thread.index();
    const uint64_t most = threads[thread].waiting_ns;
    if (sums[thread] > most)
      each.time_ns = uint64_t(double(each.time_ns) * (double(most) / double(sums[thread])));
  }
  std::erase_if(counted, [](const CountedWait& each) { return each.time_ns == 0; });
  return counted;
}

uint64_t sum_of(const std::vector<CountedWait>& waits) {
  uint64_t sum = 0;
  for (const CountedWait& each : waits) sum += each.time_ns;
  return sum;
}

void add_levels(const Concurrency& concurrency, BandMoments& moments) {
  moments.elapsed_ns = concurrency.levels.elapsed();
  const auto by_level = time_by_level(concurrency.levels, concurrency.rule.count());
  for (uint64_t level = 0; level < by_level.size(); ++level) {
    const auto band = size_t(concurrency.rule.of(double(level)));
    moments.by_band[band] += by_level[level];
    if (by_level[level]) moments.active[band].add(level);
  }
}

}  // namespace

uint64_t BandMoments::chosen_ns() const { return chosen(by_band, bands); }

LevelSpan BandMoments::chosen_active() const {
  LevelSpan span;
  for (size_t band = 0; band < kBands; ++band)
    if (bands[band] && active[band].any()) span.add(active[band].least), span.add(active[band].most);
  return span;
}

BandMoments band_moments(const load::Profile& profile, const symbol::SymbolTable& symbols,
                         const Filter& filter, const Concurrency& concurrency, const BandSet& bands) {
  BandMoments moments;
  moments.bands = bands;
  if (!concurrency.known()) return moments;
  add_levels(concurrency, moments);
  std::vector<ThreadTime> threads = thread_times(profile, concurrency, bands);
  settle(profile, concurrency.levels.range(), threads);
  const TimeRange range = time_range(profile, filter);
  std::vector<CountedWait> counted =
      waits_in(profile, counted_waits(profile, range, concurrency), bands, threads);
  std::vector<uint64_t> unseen(threads.size());
  for (size_t i = 0; i < threads.size(); ++i) unseen[i] = threads[i].waiting_ns;
  for (CountedWait& each : counted) {
    uint64_t& left = unseen[profile.waits.waits[each.row].thread.index()];
    each.time_ns = std::min(each.time_ns, left);  // of a part of a nanosecond
    left -= each.time_ns;
  }
  const std::vector<CountedWait> passing = waits_that_pass(profile, symbols, filter, counted);
  const PassingRows passes(profile, symbols, filter);
  uint64_t all = 0;
  for (uint32_t i = 0; i < threads.size(); ++i) {
    all += threads[i].sum();
    if (!passes.thread({i})) continue;
    moments.kept.running_ns += threads[i].running_ns;
    moments.kept.ready_ns += threads[i].ready_ns;
    moments.kept.unsampled_ns += threads[i].unsampled_ns;
    if (passes.other_waits({i})) moments.other_waits_ns += unseen[i];
  }
  moments.kept.waiting_ns = sum_of(passing) + moments.other_waits_ns;
  moments.filtered_ns = all - moments.kept.sum();
  moments.objects = wait_objects(profile, range, passing);
  std::ranges::stable_sort(moments.objects, std::greater(), &WaitSum::wait_ns);
  return moments;
}

}  // namespace varve::analyze
