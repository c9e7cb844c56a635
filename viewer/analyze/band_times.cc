// SPDX-License-Identifier: MIT
// See band_times.h.
// Context: viewer.
#include "viewer/analyze/band_times.h"

#include <algorithm>

namespace varve::analyze {

BandTimes::BandTimes(const Levels& levels, const BandRule& rule) : levels_(levels) {
  constexpr uint64_t kWhole = load::RunEvent::kWhole;
  Times sum{};
  for (size_t row = 0; row < levels.rows().size(); ++row) {
    const uint64_t level = levels.rows()[row].*rule.count(), below = level / kWhole;
    rows_.push_back({rule.of(double(below)), rule.of(double(below + 1)), uint16_t(level % kWhole)});
    before_.push_back(sum);
    add(row, levels.end_of(row), sum);
  }
}

/// What of the row lies before `end_ns`.
void BandTimes::add(size_t row, uint64_t end_ns, Times& times) const {
  const uint64_t length = levels_.counted().in({levels_.rows()[row].time_ns, end_ns});
  const uint64_t above = part_of(length, rows_[row].above_share);
  times[size_t(rows_[row].below)] += length - above;
  times[size_t(rows_[row].above)] += above;
}

BandTimes::Times BandTimes::until(uint64_t time_ns) const {
  const auto& rows = levels_.rows();
  const auto after = std::ranges::upper_bound(rows, time_ns, {}, &Level::time_ns);
  if (after == rows.begin()) return {};
  const auto row = size_t(after - rows.begin()) - 1;
  Times times = before_[row];
  add(row, std::min(time_ns, levels_.end_of(row)), times);
  return times;
}

BandTimes::Times BandTimes::of(TimeRange range) const {
  Times times = until(range.end);
  const Times first = until(range.begin);
  for (size_t band = 0; band < kBands; ++band) times[band] -= first[band];
  return times;
}

}  // namespace varve::analyze
