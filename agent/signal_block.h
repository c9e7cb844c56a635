// SPDX-License-Identifier: MIT
// SignalBlock: signals blocked for a scope; all of them so that neither our handler nor one of the program's,
// which may call _exit and so come back to us, meets the agent's own structures half changed. CPU time still
// counts while blocked: an expiry stays pending and comes after the scope. Context: any thread of the target.
#pragma once

#include <signal.h>

#include <cstdint>

#include "agent/signal/kernel_signal.h"
#include "agent/signal/raw_syscall.h"

namespace varve::agent {

constexpr uint64_t kAllSignals = ~uint64_t{0};

/// The thread's signal mask before the change.
inline uint64_t change_mask(int how, uint64_t set) {
  uint64_t before = 0;
  raw_syscall(__NR_rt_sigprocmask, how, as_arg(&set), as_arg(&before), kKernelSetBytes);
  return before;
}

class SignalBlock {
 public:
  explicit SignalBlock(uint64_t set = kAllSignals) : before_(change_mask(SIG_BLOCK, set)) {}
  ~SignalBlock() { change_mask(SIG_SETMASK, before_); }
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

  /// The mask that it was.
  uint64_t before() const { return before_; }

 private:
  uint64_t before_;
};

}  // namespace varve::agent
