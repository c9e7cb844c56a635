// SPDX-License-Identifier: MIT
// Whether a filter of system calls (seccomp) is set, by the program or by who started it: it may end the
// program for a call that it does not foresee. For calls beyond those that filters are tried with when they
// are set (call_filter.h). Context: signal, and every other part of the agent.
#pragma once

#include <sys/prctl.h>

#include <atomic>

#include "agent/signal/raw_syscall.h"

namespace varve::agent {

/// All filters that apply in this process are known to let the agent do what it wants.
inline constinit std::atomic<bool> filters_tried{false};

/// Of the calling thread; also true where the kernel does not say.
inline bool is_filtered() {
  return !filters_tried.load(std::memory_order_relaxed) && raw_syscall(__NR_prctl, PR_GET_SECCOMP) != 0;
}

}  // namespace varve::agent
