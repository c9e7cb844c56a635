// SPDX-License-Identifier: MIT
// A lock for a few hundred nanoseconds that both hooks and the handler take. Holders outside the handler must
// have SIGPROF blocked (SignalBlock), so a thread never meets itself; in the handler waiting is bounded and
// the tick gives up. Context: signal, and every other part of the agent.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

#include "agent/signal/raw_syscall.h"

namespace varve::agent {

class SpinLock {
 public:
  /// Waits for a holder on another processor, a few dozen microseconds at most. False: still held.
  bool try_lock_for_a_while() {
    for (int attempt = 0; attempt < 200; ++attempt) {
      if (!held_.exchange(1, std::memory_order_acquire)) return true;
      if (attempt < 50)
        __builtin_ia32_pause();
      else
        raw_syscall(__NR_sched_yield);
    }
    return false;
  }
  /// Sleeps between tries: a holder of lower priority on this processor would not run for a yield.
  void lock() {
    timespec pause{0, 50'000};
    while (!try_lock_for_a_while()) raw_syscall(__NR_nanosleep, as_arg(&pause));
  }
  void unlock() { held_.store(0, std::memory_order_release); }

 private:
  std::atomic<uint32_t> held_{0};
};

/// Holds a SpinLock for a scope. owns() is false when the bounded wait was over.
class SpinGuard {
 public:
  explicit SpinGuard(SpinLock& lock) : lock_(lock), owns_(lock.try_lock_for_a_while()) {}
  ~SpinGuard() {
    if (owns_) lock_.unlock();
  }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;
  bool owns() const { return owns_; }

 private:
  SpinLock& lock_;
  bool owns_;
};

}  // namespace varve::agent
