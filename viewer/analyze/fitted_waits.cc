// SPDX-License-Identifier: MIT
// See fitted_waits.h.
// Context: viewer.
#include "viewer/analyze/fitted_waits.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace varve::analyze {
namespace {

/// Waits of one thread, and what it waited in each band.
struct OfThread {
  std::span<CountedWait> waits;
  BandTimes::Times room{};  // that the waits do not fill

  uint64_t in_band(size_t band) const {
    uint64_t sum = 0;
    for (const CountedWait& each : waits) sum += each.bands[band];
    return sum;
  }
  /// Cuts waits where there is no room, adds to `cut` by how much, and leaves the room that is not filled.
  void cut_to_room(std::vector<double>& cut) {
    for (size_t band = 0; band < kBands; ++band) {
      const uint64_t all = in_band(band), most = room[band];
      room[band] -= std::min(all, most);
      if (all <= most) continue;
      for (size_t i = 0; i < waits.size(); ++i) {
        const uint64_t before = waits[i].bands[band];
        waits[i].bands[band] = uint64_t(double(before) * (double(most) / double(all)));
        cut[i] += double(before - waits[i].bands[band]);
      }
    }
  }
  void put_where_room_is(const std::vector<double>& cut) {
    double too_much = 0, all_room = 0;
    for (const double each : cut) too_much += each;
    for (const uint64_t each : room) all_room += double(each);
    if (too_much < 1 || all_room < 1) return;
    const double kept = std::min(1.0, all_room / too_much);
    for (size_t band = 0; band < kBands; ++band) {
      const double share = kept * double(room[band]) / all_room;
      for (size_t i = 0; i < waits.size(); ++i) {
        const uint64_t more = std::min(uint64_t(cut[i] * share), room[band]);
        waits[i].bands[band] += more;
        room[band] -= more;
      }
    }
  }
};

uint64_t in_any_band(const BandTimes::Times& bands) {
  return std::accumulate(bands.begin(), bands.end(), uint64_t(0));
}

/// How much of a wait is in no band: what of a sum came before the moment that stands for it, or a pause.
uint64_t without_band(const CountedWait& wait) {
  return wait.time_ns - std::min(wait.time_ns, in_any_band(wait.bands));
}

/// `left` may not be more than the `unseen` time of the thread: what is too much there is of the waits that
/// have time in no band, in proportion to that, and what numbers with a point lose of the first of them.
void give_back(std::span<CountedWait> waits, BandTimes::Times left, uint64_t unseen) {
  const BandTimes::Times all_left = left;
  const uint64_t rest = in_any_band(left), too_much = rest - std::min(rest, unseen);
  uint64_t more = too_much;
  const auto give = [&](CountedWait& wait, size_t band, uint64_t most) {
    const uint64_t ns = std::min({most, left[band], more, without_band(wait)});
    wait.bands[band] += ns;
    left[band] -= ns;
    more -= ns;
  };
  std::vector<double> missing;
  for (const CountedWait& each : waits) missing.push_back(double(without_band(each)));
  const double all = std::accumulate(missing.begin(), missing.end(), 0.0);
  if (too_much == 0 || all < 1) return;
  const double given = std::min(double(too_much), all) / double(rest) / all;
  for (size_t i = 0; i < waits.size(); ++i)
    for (size_t band = 0; band < kBands; ++band)
      give(waits[i], band, uint64_t(given * double(all_left[band]) * missing[i]));
  for (CountedWait& each : waits)
    for (size_t band = 0; band < kBands && more > 0; ++band) give(each, band, more);
}

/// Fits the waits and returns what they leave, to the nanosecond. `unseen`: how much that may be.
BandTimes::Times fit_to_bands(std::span<CountedWait> waits, const ThreadBands& thread, uint64_t unseen) {
  OfThread own{waits};
  std::ranges::transform(thread, own.room.begin(), &ThreadTime::waiting_ns);
  const BandTimes::Times left = own.room;
  std::vector<double> cut(waits.size());
  own.cut_to_room(cut);
  own.put_where_room_is(cut);
  // Beyond 2^53 ns, which only a damaged profile has, numbers with a point are not exact.
  const auto less_waits = [&] {
    BandTimes::Times rest = left;
    for (size_t band = 0; band < kBands; ++band) rest[band] -= std::min(rest[band], own.in_band(band));
    return rest;
  };
  give_back(waits, less_waits(), unseen);
  return less_waits();
}

}  // namespace

FittedWaits fitted_waits(const load::Profile& profile, TimeRange range, const Concurrency& concurrency,
                         const std::vector<ThreadBands>& by_band) {
  FittedWaits fitted{counted_waits(profile, range, concurrency), {}};
  const std::vector<uint64_t> unseen = unseen_waits(profile, range, fitted.counted);
  const auto thread_of = [&](const CountedWait& each) { return profile.waits.waits[each.row].thread; };
  auto next = fitted.counted.begin();
  for (uint32_t i = 0; i < unseen.size(); ++i) {
    const auto first = next;
    next = std::find_if(first, fitted.counted.end(),
                        [&](const CountedWait& each) { return thread_of(each) != ThreadId{i}; });
    fitted.others.push_back({unseen[i], fit_to_bands({first, next}, by_band[i], unseen[i])});
  }
  return fitted;
}

FittedWaits fitted_waits(const load::Profile& profile, TimeRange range, const Concurrency& concurrency) {
  const auto by_band = concurrency.known() ? thread_bands(profile, concurrency)
                                           : std::vector<ThreadBands>(profile.threads.size());
  return fitted_waits(profile, range, concurrency, by_band);
}

}  // namespace varve::analyze
