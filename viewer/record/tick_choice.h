// SPDX-License-Identifier: MIT
// TickChoice: where the agents' ticks are to come from, CPU timers or events (common/tick_event.h), decided
// before the command runs by trying such an event here. Context: viewer.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "common/units.h"

namespace varve::record {

/// --timer
enum class Timer { kAuto, kCpu, kPerf };

class TickChoice {
 public:
  TickChoice() = default;
  TickChoice(TickChoice&& other) noexcept;
  TickChoice& operator=(TickChoice&& other) noexcept;
  ~TickChoice();

  /// kAuto: events where they are allowed, from the kernel's own tick on only for threads that may work in
  /// step with it. The error is a sentence: why not, where they are asked for.
  static tl::expected<TickChoice, std::string> make(Timer wanted, Nanos interval);

  bool events() const { return descriptor_ >= 0; }
  /// From each thread's start on, which costs it 0.1 ms: where they were asked for.
  bool at_once() const { return at_once_; }
  /// Only of threads that may work in step with the kernel's tick; where there can be none nobody misses
  /// them.
  bool in_step() const { return in_step_; }
  /// Why not events, a sentence, where they would have been taken; else empty.
  const std::string& why_not() const { return why_not_; }

 private:
  /// An event of the recorder's own, for as long as it records: with the first of all events, and after the
  /// last, the kernel changes its code, which takes milliseconds.
  int descriptor_ = -1;
  bool at_once_ = false, in_step_ = false;
  std::string why_not_;
};

/// What the kernel's clocks go on by at a tick of its scheduler: CPU timers are looked at no more often.
Nanos kernel_tick();

}  // namespace varve::record
