// SPDX-License-Identifier: MIT
// QuietPauses: how long the observer of context switches sleeps where nothing new waits. A pass costs the
// program more than its own 20 us, as it takes a processor away whose caches the program has filled; so from
// pass to pass in which nothing happened the pauses grow. The price: what begins to wait first after that is
// seen later.
// Context: viewer, one thread.
#pragma once

#include <algorithm>

#include "common/units.h"

namespace varve::record::observe {

class QuietPauses {
 public:
  static constexpr Nanos kFirst{50 * kNanosPerMilli.count};
  /// Within half a second a sum of waits finds the look that it belongs to (load/observed_waits), and a
  /// recorder that is killed loses no more.
  static constexpr Nanos kLongest{200 * kNanosPerMilli.count};

  /// A pass has ended: `quiet` if no thread began to wait or ended in it, `settled` if all who wait have been
  /// looked at.
  void pass(bool quiet, bool settled) {
    const bool grows = pause_.count && quiet && settled;
    pause_ = grows ? std::min(Nanos{2 * pause_.count}, kLongest) : quiet ? kFirst : Nanos{};
  }

  /// From the pass that has ended to the next, if it was quiet; 0 otherwise.
  Nanos pause() const { return pause_; }
  /// Whether the pause is so long that a ring could become full meanwhile.
  bool resting() const { return pause_ > kFirst; }

 private:
  Nanos pause_;
};

}  // namespace varve::record::observe
