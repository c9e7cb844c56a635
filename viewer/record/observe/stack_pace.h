// SPDX-License-Identifier: MIT
// StackPace: when the stack of a blocked thread is to be looked at again. A look takes ten times as long as
// the switch that it is made for, and where a hook of the agent's stands around the call the thread tells the
// wait itself, so that only the wait in which the process ends is of use: looks that find a hook come half as
// often each time, down to a few a second.
// Context: viewer, the observer's thread.
#pragma once

#include <algorithm>

#include "common/units.h"

namespace varve::record::observe {

class StackPace {
 public:
  bool due(Nanos now) const { return saturating_sub(now, looked_) >= period_; }

  void look(Nanos now) { looked_ = now; }

  void found(bool in_hook) { period_ = in_hook ? std::min(Nanos{2 * period_.count}, kLongest) : kShortest; }

 private:
  static constexpr Nanos kShortest{50 * kNanosPerMilli.count}, kLongest{400 * kNanosPerMilli.count};

  Nanos looked_, period_ = kShortest;
};

}  // namespace varve::record::observe
