// SPDX-License-Identifier: MIT
// ThreadClock: CLOCK_MONOTONIC at less than half of its price (20 instead of 47 ns here), for hooks that time
// calls of a few hundred ns. The processor's counter carries each thread on from its last look at the real
// clock, for a millisecond at most; what a tick of the counter takes is learnt from such looks, and where one
// finds that the counter went wrong (another frequency, a processor out of step, a machine that was moved)
// the process never asks the counter again. So times are right to a microsecond, but for the millisecond in
// which a counter goes wrong, and those longer than a millisecond are the clock's. Context: the thread
// itself, its signal handlers included.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/signal/clock.h"

namespace varve::agent {

/// The counter and the clock at one moment.
struct ClockReading {
  uint64_t ticks = 0;
  uint64_t ns = 0;
};

/// How long a tick of the processor's counter is, in this process.
class TickLength {
 public:
  /// In 2^-32 ns; 0 where it is not known, or is no use.
  uint64_t value() const { return length_.load(std::memory_order_relaxed); }
  bool is_refused() const { return state_.load(std::memory_order_relaxed) == State::kRefused; }

  /// Each reading is also held against the last one of its thread; the first readings of all give the length.
  void learn(const ClockReading& last, const ClockReading& now) {
    const uint64_t length = value();
    if (length != 0) return agrees(last, now, length) ? void() : refuse();
    State expected = State::kUnknown;
    if (state_.compare_exchange_strong(expected, State::kBusy)) {
      first_ = now;
      state_.store(State::kBegun);
    } else if (expected == State::kBegun) {
      conclude(now);
    }
  }

 private:
  enum class State : uint8_t { kUnknown, kBusy, kBegun, kKnown, kRefused };

  /// A reading is right to some tens of ns, so this gives the length to a few millionths.
  static constexpr uint64_t kLearnNs = 20'000'000;

  /// The clock is slewed by 500 millionths at most where it is set right.
  static bool agrees(const ClockReading& last, const ClockReading& now, uint64_t length) {
    const uint64_t ticks = now.ticks - last.ticks, ns = now.ns - last.ns;
    if (ticks >> 32 != 0 || ns >> 32 != 0) return now.ticks > last.ticks;  // too long ago to be compared
    const uint64_t carried = ticks * length >> 32;
    return (carried > ns ? carried - ns : ns - carried) <= 1000 + ns / 1024;
  }

  void conclude(const ClockReading& now) {
    const uint64_t ns = now.ns - first_.ns, ticks = now.ticks - first_.ticks;
    if (ns < kLearnNs) return;
    State expected = State::kBegun;
    if (!state_.compare_exchange_strong(expected, State::kBusy)) return;
    if (ns >> 32 != 0) {  // too long ago to be reckoned with
      first_ = now;
      state_.store(State::kBegun);
    } else if (ticks < ns / 16) {  // no counter of cycles
      refuse();
    } else {
      length_.store((ns << 32) / ticks, std::memory_order_relaxed);
      state_.store(State::kKnown);
    }
  }

  void refuse() {
    length_.store(0, std::memory_order_relaxed);
    state_.store(State::kRefused);
  }

  std::atomic<uint64_t> length_{0};
  std::atomic<State> state_{State::kUnknown};
  ClockReading first_;
};

/// The real ones; tests have others.
struct MachineClocks {
  static uint64_t ticks() { return __builtin_ia32_rdtsc(); }
  static uint64_t ns() { return monotonic_ns(); }
};

template <typename Clocks = MachineClocks>
class ThreadClock {
 public:
  /// CLOCK_MONOTONIC in ns.
  uint64_t now_ns(TickLength& length) {
    const uint64_t tick = length.value();
    if (tick == 0) return length.is_refused() ? Clocks::ns() : look(length);
    const uint64_t from_ns = last_.ns;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const uint64_t passed = Clocks::ticks() - last_.ticks;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // A signal handler of the program's may have looked in between.
    if (from_ns == 0 || from_ns != last_.ns || passed >> 32 != 0) return look(length);
    const uint64_t carried = passed * tick >> 32;
    return carried < kMostCarriedNs ? from_ns + carried : look(length);
  }

 private:
  static constexpr uint64_t kMostCarriedNs = 1'000'000;
  /// Of the counter, around a look at the clock; more, and the thread was interrupted in between.
  static constexpr uint64_t kMostTicksOfLook = 2000;

  __attribute__((noinline)) uint64_t look(TickLength& length) {
    const uint64_t before = Clocks::ticks();
    ClockReading now{0, Clocks::ns()};
    now.ticks = Clocks::ticks();
    // A signal handler that stands over a look of its thread leaves it alone.
    if (last_.ns == 0 || now.ticks - before > kMostTicksOfLook) return now.ns;
    const ClockReading last = last_;
    last_.ns = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (last.ticks != 0) length.learn(last, now);
    last_.ticks = now.ticks;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    last_.ns = now.ns;
    return now.ns;
  }

  ClockReading last_{0, 1};  // no ns: a look is under way
};

}  // namespace varve::agent
