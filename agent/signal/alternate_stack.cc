// SPDX-License-Identifier: MIT
// See alternate_stack.h.
// Context: signal, hooks, the thread's own start and end.
#include "agent/signal/alternate_stack.h"

#include <signal.h>

#include <atomic>

#include "agent/signal/raw_syscall.h"

namespace varve::agent {
namespace {

/// Of the only thread of a child that is not recorded: the kernel did not take it back, or gives it again
/// when a handler returns in which the child began.
constinit std::atomic<const void*> left_alternate_stack{nullptr};

}  // namespace

/// Ours only where the thread has none: a program's own is left alone and replaces ours when it sets one.
void install_alternate_stack(ThreadBlock& block) {
  stack_t current{};
  raw_syscall(__NR_sigaltstack, 0, as_arg(&current));
  if (!(current.ss_flags & SS_DISABLE)) return;
  stack_t ours{block.alternate_stack, 0, kAlternateStackBytes};
  block.alternate_stack_installed = !failed(raw_syscall(__NR_sigaltstack, as_arg(&ours), 0));
}

void remove_alternate_stack(const ThreadBlock& block) {
  stack_t current{}, none{nullptr, SS_DISABLE, 0};
  const bool asked = !failed(raw_syscall(__NR_sigaltstack, 0, as_arg(&current)));
  if (asked && current.ss_sp == block.alternate_stack) raw_syscall(__NR_sigaltstack, as_arg(&none), 0);
}

void leave_alternate_stack(const ThreadBlock& block) {
  left_alternate_stack.store(block.alternate_stack, std::memory_order_relaxed);
  remove_alternate_stack(block);
}

bool is_our_alternate_stack(const void* low) {
  return low && low == (current_block ? current_block->alternate_stack : left_alternate_stack.load());
}

}  // namespace varve::agent
