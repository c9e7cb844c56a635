// SPDX-License-Identifier: MIT
// BandTimes: how much of a stretch of time lay in each band, in logarithmic time, by sums over all levels
// before. A mean level is time at both of its neighbours, and paused time is none, as in time_by_band(), so
// that of the whole range it is the same. Context: viewer.
#pragma once

#include <array>
#include <vector>

#include "viewer/analyze/bands.h"

namespace varve::analyze {

class BandTimes {
 public:
  using Times = std::array<uint64_t, kBands>;

  /// `levels` outlives this.
  BandTimes(const Levels& levels, const BandRule& rule);

  /// ns of `range` by Band; what lies outside of the observed time is in none.
  Times of(TimeRange range) const;

 private:
  struct Row {
    Band below, above;     // of the whole levels beside its level
    uint16_t above_share;  // of its time, in parts of RunEvent::kWhole
  };

  Times until(uint64_t time_ns) const;
  void add(size_t row, uint64_t end_ns, Times& times) const;

  const Levels& levels_;
  std::vector<Row> rows_;      // by row of the levels
  std::vector<Times> before_;  // beside them: of all rows before
};

/// Of the times by band those in `bands`, in ns.
inline uint64_t time_in(const BandTimes::Times& times, const BandSet& bands) {
  uint64_t sum = 0;
  for (size_t band = 0; band < kBands; ++band)
    if (bands[band]) sum += times[band];
  return sum;
}

}  // namespace varve::analyze
