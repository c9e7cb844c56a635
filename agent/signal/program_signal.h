// SPDX-License-Identifier: MIT
// What the program itself wants to happen on SIGPROF. Our handler owns the kernel's slot for it; the program
// sets and reads this copy (hook_signal.cc), and signals that are not ours are treated as it says. Context:
// signal (deliver), hooks (get, set).
#pragma once

#include <signal.h>

#include <atomic>

#include "agent/signal/spin_lock.h"

namespace varve::agent {

class ProgramSignal {
 public:
  struct sigaction get();
  void set(const struct sigaction& action);

  /// In the child of a fork: a thread that it did not copy may have held the lock.
  void reset_lock() { lock_.unlock(); }

  /// True while the program has a handler of its own: then its masks are left as it wants them.
  bool handled() const { return handled_.load(std::memory_order_relaxed); }

  /// Does with a SIGPROF that is not a tick what the kernel would have done without us.
  void deliver(int signal, siginfo_t* info, void* context);

 private:
  SpinLock lock_;
  std::atomic<bool> handled_{false};
  struct sigaction action_ = {};
};

}  // namespace varve::agent
