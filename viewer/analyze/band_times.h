// SPDX-License-Identifier: MIT
// BandTimes: how much of a stretch of time lay in each band, in logarithmic time, by sums over all levels
// before. Context: viewer.
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

  bool known() const { return !bands_.empty(); }
  /// ns of `range` by Band; what lies outside of the observed time is in none.
  Times of(TimeRange range) const;

 private:
  Times until(uint64_t time_ns) const;

  const Levels& levels_;
  std::vector<Band> bands_;    // by row of the levels
  std::vector<Times> before_;  // beside them: of all rows before
};

}  // namespace varve::analyze
