// SPDX-License-Identifier: MIT
// See band_times.h.
// Context: viewer.
#include "viewer/analyze/band_times.h"

#include <algorithm>
#include <cmath>

namespace varve::analyze {

BandTimes::BandTimes(const Levels& levels, const BandRule& rule) : levels_(levels) {
  Times sum{};
  for (size_t row = 0; row < levels.rows().size(); ++row) {
    const Level& level = levels.rows()[row];
    bands_.push_back(rule.of(std::round(double(level.*rule.count()) / load::RunEvent::kWhole)));
    before_.push_back(sum);
    sum[size_t(bands_.back())] += levels.end_of(row) - level.time_ns;
  }
}

BandTimes::Times BandTimes::until(uint64_t time_ns) const {
  const auto& rows = levels_.rows();
  const auto after = std::ranges::upper_bound(rows, time_ns, {}, &Level::time_ns);
  if (after == rows.begin()) return {};
  const auto row = size_t(after - rows.begin()) - 1;
  Times times = before_[row];
  times[size_t(bands_[row])] += std::min(time_ns, levels_.end_of(row)) - rows[row].time_ns;
  return times;
}

BandTimes::Times BandTimes::of(TimeRange range) const {
  Times times = until(range.end);
  const Times first = until(range.begin);
  for (size_t band = 0; band < kBands; ++band) times[band] -= first[band];
  return times;
}

}  // namespace varve::analyze
