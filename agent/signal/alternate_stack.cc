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

/// Of the kernel, by its MINSIGSTKSZ where it does not say. With AVX-512 it is 3.4 KB.
constinit uint64_t signal_frame_bytes = 2048;
/// What the handler takes, with some to spare.
constexpr uint64_t kHandlerBytes = 3072;

/// Of the alternate stack as the kernel noted it at the signal.
uint64_t room_below(const ucontext_t& context) {
  const auto at = reinterpret_cast<uint64_t>(&context),
             low = reinterpret_cast<uint64_t>(context.uc_stack.ss_sp);
  return at - low < context.uc_stack.ss_size ? at - low : UINT64_MAX;
}

}  // namespace

/// The state of AMX has 8 KB and a header's 64 bytes in that number, but in no frame of a process that has
/// not asked for it; of one that has, the kernel itself refuses small stacks.
void learn_signal_frame(uint64_t bytes) {
  constexpr uint64_t kOfTiles = 8192 + 64;
  if (bytes > kOfTiles) bytes -= kOfTiles;
  if (bytes > signal_frame_bytes) signal_frame_bytes = bytes;
}

bool holds_frame(uint64_t bytes) {
  constexpr uint64_t kToLeave = 512;
  return bytes >= signal_frame_bytes + kToLeave;
}

bool holds_tick(uint64_t bytes) { return bytes >= signal_frame_bytes + kHandlerBytes; }

bool has_room_for_tick(const ucontext_t& context) { return room_below(context) >= kHandlerBytes; }

bool has_room_beside_handler(const ucontext_t& context) {
  constexpr uint64_t kOfProgram = 8192;
  const uint64_t room = room_below(context);
  return room >= kOfProgram && holds_tick(room - kOfProgram);
}

StackBounds alternate_stack_here() {
  stack_t current{};
  raw_syscall(__NR_sigaltstack, 0, as_arg(&current));
  const auto low = reinterpret_cast<uint64_t>(current.ss_sp);
  return current.ss_flags & SS_ONSTACK ? StackBounds{low, low + current.ss_size} : StackBounds{};
}

/// Ours only where the thread has none: a program's own is left alone and replaces ours when it sets one.
void install_alternate_stack(ThreadBlock& block) {
  stack_t current{};
  if (failed(raw_syscall(__NR_sigaltstack, 0, as_arg(&current)))) return;
  const bool is_programs = !(current.ss_flags & SS_DISABLE);
  if (is_programs) return void(block.has_small_stack = !holds_frame(current.ss_size));
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
