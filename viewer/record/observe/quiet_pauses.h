// SPDX-License-Identifier: MIT
// QuietPauses: how long the observer of context switches sleeps where nothing new waits. A pass costs the
// program more than its own 20 us, as it takes a processor away whose caches the program has filled; so from
// pass to pass in which nothing happened the pauses grow. The price: of what begins to wait first after that
// a wait that is shorter than the pause may have ended when somebody looks, and if no hook saw it nobody
// knows for what it was. With pauses of 200 ms half of such waits of 100 ms were lost. Context: viewer, one
// thread.
#pragma once

#include <algorithm>

#include "common/units.h"

namespace varve::record::observe {

class QuietPauses {
 public:
  static constexpr Nanos kFirst{50 * kNanosPerMilli.count};
  static constexpr Nanos kLongest{100 * kNanosPerMilli.count};

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
