// SPDX-License-Identifier: MIT
// StackPace: when the stack of a blocked thread is to be looked at again. A look takes ten times as long as
// the switch that it is made for, and where a hook of the agent's stands around the call the thread tells the
// wait itself, so that only the wait in which the process ends is of use: looks that find the same hook come
// half as often each time, down to a few a second.
// Context: viewer, the observer's thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/units.h"
#include "viewer/record/observe/proc_text.h"

namespace varve::record::observe {

class StackPace {
 public:
  bool due(Nanos now) const { return saturating_sub(now, looked_) >= period_; }

  /// It was found in the same hook again, after which the period is longer, and for some seconds nowhere
  /// without one: the waits that begin now, too, are most likely told by the thread itself.
  bool is_told(Nanos now) const {
    const bool untold = untold_.count != 0 && saturating_sub(now, untold_) < kUntoldFor;
    return period_ > kShortest && !untold;
  }

  void look(Nanos now) { looked_ = now; }

  /// The thread executes another program: nothing that was seen of it holds.
  void begin_again() { *this = {}; }

  /// The thread is blocked in `call`. Elsewhere than in that hook the next stack is of use again.
  void blocked_in(const SyscallLook& call) {
    if (!is_same(call)) period_ = kShortest;
  }

  /// A look at its stack there.
  void found(bool in_hook, const SyscallLook& call) {
    period_ = in_hook && is_same(call) ? std::min(Nanos{2 * period_.count}, kLongest) : kShortest;
    if (!in_hook) untold_ = looked_;
    program_counter_ = call.program_counter;
    stack_pointer_ = call.stack_pointer;
  }

 private:
  static constexpr Nanos kShortest{50 * kNanosPerMilli.count}, kLongest{400 * kNanosPerMilli.count};
  static constexpr Nanos kUntoldFor{5 * kNanosPerSecond.count};

  bool is_same(const SyscallLook& call) const {
    return call.program_counter == program_counter_ && call.stack_pointer == stack_pointer_;
  }

  Nanos looked_, period_ = kShortest;
  Nanos untold_;                                      // when it was found to wait without a hook; 0: never
  uint64_t program_counter_ = 0, stack_pointer_ = 0;  // of the last look at its stack
};

}  // namespace varve::record::observe
