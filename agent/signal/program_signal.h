// SPDX-License-Identifier: MIT
// What the program itself wants to happen on a signal that ticks come by. Our handler owns the kernel's slot
// for it; the program sets and reads this copy (hook_signal.cc), and signals that are not ours are treated as
// it says. Context: signal (deliver), hooks (get, set).
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <cstdint>

#include "agent/signal/spin_lock.h"

namespace varve::agent {

/// A function, whatever the flags that stand with it.
inline bool is_handler(void (*handler)(int)) { return handler != SIG_DFL && handler != SIG_IGN; }

/// Sends what the calling thread was given once more: to the thread where it was meant for that, else to the
/// process, with its value. The kernel lets no thread but the first send what somebody's kill() sent: then
/// the sender is this process.
void send_again(const siginfo_t& info);

class ProgramSignal {
 public:
  /// Which it is, once ticks come by it; before, 0.
  void begin(int number, const struct sigaction& action) {
    number_ = number;
    set(action);
  }
  int number() const { return number_; }
  /// In a set of signals, as the kernel has them.
  uint64_t bit() const { return number_ ? uint64_t{1} << (number_ - 1) : 0; }

  struct sigaction get();
  void set(const struct sigaction& action);

  /// In the child of a fork: a thread that it did not copy may have held the lock, and pending signals are
  /// not inherited.
  void reset_after_fork() {
    lock_.unlock();
    pending_.store(false, std::memory_order_relaxed);
    for (std::atomic<int>& each : waiters_) each.store(0, std::memory_order_relaxed);
  }

  /// True while the program has a handler of its own: then its masks are left as it wants them.
  bool handled() const { return handled_.load(std::memory_order_relaxed); }

  /// How our handler met a signal.
  struct Met {
    bool blocked;    // by the thread, as the program believes
    bool in_tick;    // the handler is within one, which a jump of the program's would end
    bool by_kernel;  // is_frame_of_kernel()
  };
  /// Does with one that is not a tick what the kernel would have done without us. One that is blocked stays
  /// pending without a handler of the program's; with one it is sent again, to a thread that does not block
  /// it, as is one within a tick. What the processor forced by an instruction cannot wait. Does not return
  /// where the program's handler is entered.
  void deliver(siginfo_t& info, ucontext_t& context, const Met& met);

  /// Gives the kernel's slot the disposition of a program that has no handler.
  void put_back_unhandled();

  /// Around a wait for the signal, which the calling thread has blocked in the kernel: what would stay
  /// pending is sent to one that waits.
  void begin_wait();
  void end_wait();
  bool has_pending() const { return pending_.load(); }
  /// Takes the pending signal, as a wait does. False: there is none.
  bool take_pending(siginfo_t& info);
  /// Sends the pending signal, if any, to the calling thread: it is blocked no more.
  void release_pending();

 private:
  bool set_in_kernel(void (*handler)(int), unsigned long flags) const;
  bool send_to(int thread) const;
  bool hand_to(int thread, const siginfo_t& info) const;
  void die(ucontext_t& context) const;
  void pass_on(const siginfo_t& info, ucontext_t& context) const;
  void call(const struct sigaction& action, siginfo_t& info, ucontext_t& context, bool by_kernel) const;
  void keep_pending(const siginfo_t& info);

  int number_ = 0;
  SpinLock lock_;
  std::atomic<bool> handled_{false};
  std::atomic<bool> pending_{false};
  static constexpr unsigned kMostWaiters = 16;
  std::atomic<int> waiters_[kMostWaiters] = {};  // thread ids, in a ring; 0: none
  std::atomic<unsigned> last_waiter_{0};
  siginfo_t pending_info_ = {};
  struct sigaction action_ = {};
};

}  // namespace varve::agent
