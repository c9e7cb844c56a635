// SPDX-License-Identifier: MIT
// Sums of pauses. See counted_time.h.
// Context: viewer.
#include "viewer/analyze/counted_time.h"

#include <algorithm>

namespace varve::analyze {

CountedTime::CountedTime(const std::vector<load::Pause>& pauses) {
  for (const load::Pause& pause : pauses)
    if (!pause.process.valid() && pause.begin < pause.end) {
      pauses_.push_back({pause.begin.count, pause.end.count});
      before_.push_back(sum_ += pauses_.back().length());
    }
}

uint64_t CountedTime::paused_until(uint64_t time) const {
  const auto after =
      std::ranges::partition_point(pauses_, [&](TimeRange pause) { return pause.end <= time; });
  const auto done = size_t(after - pauses_.begin());
  const uint64_t sum = done == 0 ? 0 : before_[done - 1];
  return after == pauses_.end() || after->begin >= time ? sum : sum + time - after->begin;
}

}  // namespace varve::analyze
