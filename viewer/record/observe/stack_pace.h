// SPDX-License-Identifier: MIT
// StackPace: when the stack of a blocked thread is to be looked at again. A look takes ten times as long as a
// switch that it is made for, and a thread that waits at the same place each time, as those of pools do,
// shows the same stack: so looks that find it there come half as often each time, down to a few a second.
// Context: viewer, the observer's thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/units.h"

namespace varve::record::observe {

class StackPace {
 public:
  bool due(Nanos now) const { return saturating_sub(now, looked_) >= period_; }

  void look(Nanos now) { looked_ = now; }

  /// A look found the thread blocked with these registers. The same two, and it was called from the same
  /// place, or by as many frames of the same sizes.
  void found(uint64_t program_counter, uint64_t stack_pointer) {
    const bool same = program_counter == program_counter_ && stack_pointer == stack_pointer_;
    period_ = same ? std::min(Nanos{2 * period_.count}, kLongest) : kShortest;
    program_counter_ = program_counter;
    stack_pointer_ = stack_pointer;
  }

 private:
  static constexpr Nanos kShortest{50 * kNanosPerMilli.count}, kLongest{400 * kNanosPerMilli.count};

  Nanos looked_, period_ = kShortest;
  uint64_t program_counter_ = 0, stack_pointer_ = 0;
};

}  // namespace varve::record::observe
