// SPDX-License-Identifier: MIT
// See program_signal.h.
// Context: signal, hooks.
#include "agent/signal/program_signal.h"

#include "agent/signal/raw_syscall.h"

namespace varve::agent {
namespace {

constexpr size_t kKernelSetBytes = 8;  // sizeof of the kernel's sigset_t on x86-64

/// The kernel's own struct sigaction; zeroed it means SIG_DFL without flags.
struct KernelAction {
  void* handler = nullptr;
  unsigned long flags = 0;
  void* restorer = nullptr;
  uint64_t mask = 0;
};

/// The default action of SIGPROF is to end the process: restore it, send the signal again, and let it through
/// on return.
void die_of(int signal) {
  KernelAction default_action;
  raw_syscall(__NR_rt_sigaction, signal, as_arg(&default_action), 0, kKernelSetBytes);
  raw_syscall(__NR_tgkill, raw_syscall(__NR_getpid), raw_syscall(__NR_gettid), signal);
}

void call(const struct sigaction& action, int signal, siginfo_t* info, void* context) {
  uint64_t before = 0;
  raw_syscall(__NR_rt_sigprocmask, SIG_BLOCK, as_arg(&action.sa_mask), as_arg(&before), kKernelSetBytes);
  if (action.sa_flags & SA_SIGINFO)
    action.sa_sigaction(signal, info, context);
  else
    action.sa_handler(signal);
  raw_syscall(__NR_rt_sigprocmask, SIG_SETMASK, as_arg(&before), 0, kKernelSetBytes);
}

}  // namespace

struct sigaction ProgramSignal::get() {
  SpinGuard guard(lock_);
  return action_;
}

void ProgramSignal::set(const struct sigaction& action) {
  SpinGuard guard(lock_);
  action_ = action;
  bool own = (action.sa_flags & SA_SIGINFO) || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
  handled_.store(own, std::memory_order_relaxed);
}

void ProgramSignal::deliver(int signal, siginfo_t* info, void* context) {
  struct sigaction action = get();
  if (!handled()) {
    if (action.sa_handler != SIG_IGN) die_of(signal);
    return;
  }
  if (action.sa_flags & int(SA_RESETHAND)) set({});
  call(action, signal, info, context);
}

}  // namespace varve::agent
