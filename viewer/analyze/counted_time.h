// SPDX-License-Identifier: MIT
// CountedTime: the time of a run without that in which nothing was recorded because somebody said so
// (--delay, varve pause). What the program did then is in no level and no band, and no elapsed time either.
// Where one process paused itself the others went on, so that counts. Context: viewer.
#pragma once

#include <cstdint>
#include <vector>

#include "viewer/analyze/stretches.h"
#include "viewer/load/profile.h"

namespace varve::analyze {

class CountedTime {
 public:
  CountedTime() = default;
  explicit CountedTime(const std::vector<load::Pause>& pauses);

  /// Of the range, without its pauses.
  uint64_t in(TimeRange range) const {
    if (pauses_.empty() || range.length() == 0) return range.length();
    return range.length() - (paused_until(range.end) - paused_until(range.begin));
  }

 private:
  uint64_t paused_until(uint64_t time) const;

  std::vector<TimeRange> pauses_;  // by time; none touches another
  std::vector<uint64_t> before_;   // beside them: the sum of their lengths up to and with this one
  uint64_t sum_ = 0;
};

}  // namespace varve::analyze
