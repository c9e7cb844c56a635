// SPDX-License-Identifier: MIT
// The rule by which a thread has an event at intervals from the kernel's tick on, where a CPU timer costs
// nothing between its ticks: because it works, or may work, in step with the scheduler's. Context: signal,
// and the thread's own waits; tests.
#pragma once

#include <cstdint>

namespace varve::agent {

/// Which source of ticks suits a thread.
enum class Suits : uint8_t { kUnknown, kTimer, kEvent };

struct StepEvidence {
  uint64_t interval_ns = 1;
  // Since the thread was judged last:
  uint64_t cpu_ns = 0;
  uint64_t switches = 0, voluntary = 0;
  // Since it has its timer:
  bool by_timer = true;  // else it has an event
  uint64_t timer_cpu_ns = 0, ticks = 0;
};

/// A thread whose timer had four times as many ticks as were due, or a quarter, runs when the scheduler
/// ticks, or does not. By chance a thread that runs for a part of a tick at a time has so few or so many of
/// 32 less than once in a million times.
inline bool has_enough_ticks_due(const StepEvidence& seen) {
  constexpr uint64_t kLeastDue = 32;
  return seen.by_timer && seen.timer_cpu_ns / seen.interval_ns >= kLeastDue;
}
inline bool is_out_of_proportion(const StepEvidence& seen) {
  constexpr uint64_t kFactor = 4;
  const uint64_t due = seen.timer_cpu_ns / seen.interval_ns;
  return has_enough_ticks_due(seen) && (seen.ticks * kFactor < due || seen.ticks > due * kFactor);
}

/// A thread that goes to wait less often than once in two intervals runs past so many ticks each time that it
/// matters little where they meet it. One that has an event keeps it until it waits four times more seldom.
inline bool waits_often(const StepEvidence& seen) {
  const uint64_t intervals = seen.by_timer ? 2 : 8;
  return seen.voluntary * intervals * seen.interval_ns >= seen.cpu_ns;
}

/// `in_step` is what the thread was found to be; it stays until an event would cost too much. The kernel
/// stops and starts an event's timer at each context switch, which takes 3 us of a virtual machine at such
/// intervals: no more than 4 % of the time of a thread that is in step, 0.5 % of one that may be, 1 % where
/// it has one.
inline Suits judge_step(const StepEvidence& seen, bool& in_step) {
  constexpr uint64_t kSwitchNs = 3'000, kMostShare = 25;
  const uint64_t cheap_share = seen.by_timer ? 200 : 100;
  const uint64_t cost_ns = seen.switches * kSwitchNs;
  in_step = (in_step || is_out_of_proportion(seen)) && cost_ns * kMostShare <= seen.cpu_ns;
  const bool may_be = waits_often(seen) && cost_ns * cheap_share <= seen.cpu_ns;
  return in_step || may_be ? Suits::kEvent : Suits::kTimer;
}

}  // namespace varve::agent
