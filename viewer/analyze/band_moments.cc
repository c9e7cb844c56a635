// SPDX-License-Identifier: MIT
// See band_moments.h.
// Context: viewer.
#include "viewer/analyze/band_moments.h"

#include <algorithm>

#include "viewer/analyze/fitted_waits.h"

namespace varve::analyze {
namespace {

uint64_t sum_of(const std::vector<CountedWait>& waits) {
  uint64_t sum = 0;
  for (const CountedWait& each : waits) sum += each.time_ns;
  return sum;
}

/// Of the waits what lies in the bands.
std::vector<CountedWait> waits_in_bands(std::vector<CountedWait> waits, const BandSet& bands) {
  for (CountedWait& each : waits) each.time_ns = time_in(each.bands, bands);
  std::erase_if(waits, [](const CountedWait& each) { return each.time_ns == 0; });
  return waits;
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

uint64_t BandMoments::chosen_ns() const { return time_in(by_band, bands); }

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
  const std::vector<ThreadBands> by_band = thread_bands(profile, concurrency);
  std::vector<ThreadTime> threads(by_band.size());
  for (size_t i = 0; i < threads.size(); ++i)
    for (size_t band = 0; band < kBands; ++band)
      if (bands[band]) threads[i].add(by_band[i][band]);
  const TimeRange range = time_range(profile, filter);
  const FittedWaits fitted = fitted_waits(profile, range, concurrency, by_band);
  const std::vector<CountedWait> passing =
      waits_that_pass(profile, symbols, filter, waits_in_bands(fitted.counted, bands));
  const PassingRows passes(profile, symbols, filter);
  uint64_t all = 0;
  for (uint32_t i = 0; i < threads.size(); ++i) {
    all += threads[i].sum();
    if (!passes.thread({i})) continue;
    moments.kept.running_ns += threads[i].running_ns;
    for (size_t band = 0; band < kBands; ++band)
      if (bands[band]) moments.ran[band].add(by_band[i][band]);
    if (passes({i}, PathId{0})) moments.kept.ready_ns += threads[i].ready_ns;
    moments.kept.unsampled_ns += threads[i].unsampled_ns;
    if (passes.other_waits({i})) moments.other_waits_ns += time_in(fitted.others[i].bands, bands);
  }
  moments.kept.waiting_ns = sum_of(passing) + moments.other_waits_ns;
  moments.filtered_ns = all - moments.kept.sum();
  moments.objects = wait_objects(profile, range, concurrency, passing, bands);
  std::ranges::stable_sort(moments.objects, std::greater(), &WaitSum::wait_ns);
  return moments;
}

}  // namespace varve::analyze
