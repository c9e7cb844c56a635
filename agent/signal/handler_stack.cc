// SPDX-License-Identifier: MIT
// See handler_stack.h. The kernel's frame for a signal on x86-64 (arch/x86/kernel/signal_64.c,
// setup_rt_frame), upward: return address, ucontext, siginfo, and at a multiple of 64 the state of the
// floating-point unit (arch/x86/include/uapi/asm/sigcontext.h), whose end is the end of the frame.
// rt_sigreturn takes it from wherever the stack pointer is. Context: signal.
#include "agent/signal/handler_stack.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "agent/signal/agent_state.h"
#include "agent/signal/alternate_stack.h"
#include "agent/signal/kernel_signal.h"
#include "agent/signal/raw_syscall.h"

namespace varve::agent {
namespace {

struct Slot {
  std::atomic<AnyHandler> handler;
  std::atomic<uint64_t> held;
  std::atomic<int> flags;
  std::atomic<bool> current;
};
constinit Slot slots[kSignals + 1]{};

constexpr uint64_t kContextBytes = 304;     // of the kernel's own ucontext, whose set of signals has 8
constexpr uint64_t kRedZone = 128;          // below the stack pointer is the function's own, by the ABI
constexpr uint64_t kStateAlignment = 64;    // of XSAVE's area
constexpr uint64_t kLegacyState = 512;      // FXSAVE's area, where there is no XSAVE
constexpr uint64_t kSoftwareBytes = 464;    // of the words in it that the kernel leaves to itself
constexpr uint32_t kExtended = 0x46505853;  // FP_XSTATE_MAGIC1: and there the size of the whole follows
constexpr uint64_t kPage = 4096;

/// The registers are as the kernel leaves them to a handler: those of the arguments, rax and the direction
/// flag set, and all that a function must preserve as they were interrupted, for who follows rbp.
[[gnu::naked, noreturn]] void jump(uint64_t /*frame*/, AnyHandler /*handler*/, int /*number*/,
                                   siginfo_t* /*info*/, ucontext_t* /*context*/) {
  asm("mov %rdi, %rsp\n"
      "mov %rsi, %r11\n"
      "mov %edx, %edi\n"
      "mov %rcx, %rsi\n"
      "mov %r8, %rdx\n"
      "mov 40+4*8(%rdx), %r12\n"  // uc_mcontext.gregs[REG_R12]
      "mov 40+5*8(%rdx), %r13\n"
      "mov 40+6*8(%rdx), %r14\n"
      "mov 40+7*8(%rdx), %r15\n"
      "mov 40+10*8(%rdx), %rbp\n"
      "mov 40+11*8(%rdx), %rbx\n"
      "xor %eax, %eax\n"
      "jmp *%r11");
}
static_assert(offsetof(ucontext_t, uc_mcontext.gregs) == 40 && REG_R12 == 4 && REG_R15 == 7 &&
              REG_RBP == 10 && REG_RBX == 11);

uint64_t address_of(const void* object) { return reinterpret_cast<uint64_t>(object); }

/// The return address lies below the ucontext.
uint64_t frame_of(const ucontext_t& context) { return address_of(&context) - sizeof(uint64_t); }

uint64_t end_of_frame(const ucontext_t& context) {
  const auto* state = reinterpret_cast<const uint8_t*>(context.uc_mcontext.fpregs);
  if (!state) return address_of(&context) + kContextBytes + sizeof(siginfo_t);
  const auto* words = reinterpret_cast<const uint32_t*>(state + kSoftwareBytes);
  return address_of(state) + (words[0] == kExtended ? words[1] : kLegacyState);
}

uint64_t stack_pointer(const ucontext_t& context) { return uint64_t(context.uc_mcontext.gregs[REG_RSP]); }

/// The alternate stack of the thread, as the kernel noted it at the signal.
bool holds(const stack_t& stack, uint64_t address) {
  return address - address_of(stack.ss_sp) < stack.ss_size;
}

/// Asks the kernel to write the thread's mask there: 0, or -EFAULT where there is no memory; a stack that may
/// grow does. Another error: it does not answer.
long try_to_write(uint64_t begin, uint64_t end) {
  for (uint64_t at = begin; at + sizeof(uint64_t) <= end; at = (at | (kPage - 1)) + 1)
    if (const long error = raw_syscall(__NR_rt_sigprocmask, SIG_BLOCK, 0, long(at), kKernelSetBytes);
        failed(error))
      return error;
  return 0;
}

/// What the kernel does where a frame has no room and the thread has no other stack (force_sigsegv()): a
/// fault by an instruction ends even the first process of a namespace.
[[noreturn]] void die_of_overflow() {
  const KernelAction by_default{};
  const uint64_t fault = uint64_t{1} << (SIGSEGV - 1);
  raw_syscall(__NR_rt_sigaction, SIGSEGV, as_arg(&by_default), 0, kKernelSetBytes);
  raw_syscall(__NR_rt_sigprocmask, SIG_UNBLOCK, as_arg(&fault), 0, kKernelSetBytes);
  asm volatile("hlt");
  for (;;) raw_syscall(__NR_exit_group, 128 + SIGSEGV);  // where the default action was refused
}

template <typename T>
T* moved(T* object, uint64_t distance) {
  return reinterpret_cast<T*>(address_of(object) - distance);
}

/// How far down a frame goes to lie below what was interrupted, where the kernel would have made it; that may
/// be up: modulo 2^64.
uint64_t distance_to_interrupted_stack(const ucontext_t& context) {
  const uint64_t highest = stack_pointer(context) - kRedZone;
  return (end_of_frame(context) - highest + kStateAlignment - 1) & ~(kStateAlignment - 1);
}

/// The alternate stack that it names there is none, and none of a size that the kernel would take on return:
/// the thread keeps the one that it has then.
void move(const ucontext_t& context, uint64_t distance) {
  const uint64_t frame = frame_of(context);
  std::memcpy(reinterpret_cast<void*>(frame - distance), reinterpret_cast<const void*>(frame),
              end_of_frame(context) - frame);
  auto& there = const_cast<ucontext_t&>(*moved(&context, distance));
  fpregset_t& state = there.uc_mcontext.fpregs;
  if (state) state = moved(state, distance);
  there.uc_stack = {};
}

/// Below the bounds, which leave an eighth out (thread_stack()), by a guard page and a function's frame:
/// there the stack pointer of a stack that has overflowed may lie.
bool is_on_own_stack(const StackBounds& stack, uint64_t stack_pointer) {
  constexpr uint64_t kBeyondEnd = 64 * 1024;
  return StackBounds{stack.low - (stack.high - stack.low) / 7 - kBeyondEnd, stack.high}.contains(
      stack_pointer);
}

bool is_to_be_moved(const ucontext_t& context) {
  const ThreadBlock* block = current_block;
  return block && !block->program_gave_stack && agent_state.recorded() &&
         holds(context.uc_stack, frame_of(context)) && context.uc_stack.ss_sp == block->alternate_stack &&
         is_on_own_stack(block->stack, stack_pointer(context));
}

/// Of what a handler's sa_mask holds by our doing, a SIGTRAP of a program that handles it itself, if it did
/// not block it: by the mask that was interrupted, or by that of a wait, which is nowhere else.
uint64_t held_breakpoints(const ThreadBlock& block, const ucontext_t& context, uint64_t held) {
  const uint64_t waits_with = block.masked_wait.number ? block.program_blocks : 0;
  return held & agent_state.handled_trap() & ~context.uc_sigmask.__val[0] & ~waits_with;
}

/// The program's own breakpoints in a handler are not to end the program.
void let_in(uint64_t breakpoints) {
  if (breakpoints) raw_syscall(__NR_rt_sigprocmask, SIG_UNBLOCK, as_arg(&breakpoints), 0, kKernelSetBytes);
}

/// What to hold while a handler stands where the frame of a tick, beside what the handler takes, may have no
/// room: the kernel would end the process. A breakpoint of the program's is not blocked, but where the
/// handler's mask has it already: that goes when the handler leaves by a jump.
HeldTicks ticks_to_hold(const ucontext_t& context, uint64_t breakpoints) {
  return {(agent_state.tick_signals & ~agent_state.handled_trap()) | breakpoints,
          {address_of(context.uc_stack.ss_sp), frame_of(context)}};
}

/// The mask that was interrupted comes back with the frame.
void call_on_small_stack(ThreadBlock& block, const EnteredHandler& entered, int number, siginfo_t* info,
                         ucontext_t& context) {
  const HeldTicks before = block.held;
  block.held = ticks_to_hold(context, held_breakpoints(block, context, entered.held));
  raw_syscall(__NR_rt_sigprocmask, SIG_BLOCK, as_arg(&block.held.signals), 0, kKernelSetBytes);
  entered.handler(number, info, &context);
  block.held = before;
}

}  // namespace

EnteredHandler entered_handler(int number) {
  const Slot& slot = slots[number];
  return {slot.handler.load(std::memory_order_relaxed), slot.held.load(std::memory_order_relaxed),
          slot.flags.load(std::memory_order_relaxed), slot.current.load(std::memory_order_relaxed)};
}

void set_entered_handler(int number, const EnteredHandler& entered) {
  Slot& slot = slots[number];
  slot.held.store(entered.held, std::memory_order_relaxed);
  slot.flags.store(entered.flags, std::memory_order_relaxed);
  slot.current.store(entered.current, std::memory_order_relaxed);
  slot.handler.store(entered.handler, std::memory_order_relaxed);
}

[[gnu::noinline]] void enter_on_its_stack(int number, siginfo_t* info, void* interrupted) {
  auto& context = *static_cast<ucontext_t*>(interrupted);
  const EnteredHandler entered = entered_handler(number);
  const uint64_t return_address_at = address_of(__builtin_frame_address(0)) + sizeof(uint64_t);
  ThreadBlock* block = agent_state.recorded() ? current_block : nullptr;
  const bool has_room = !block || has_room_beside_handler(context);
  if (block && has_room) let_in(held_breakpoints(*block, context, entered.held));
  if (is_frame_of_kernel(context, return_address_at))
    enter_if_on_our_stack(entered.handler, number, *info, context);
  if (!has_room) return call_on_small_stack(*block, entered, number, info, context);
  return entered.handler(number, info, interrupted);
}

void enter_if_on_our_stack(AnyHandler handler, int number, siginfo_t& info, ucontext_t& context) {
  if (!is_to_be_moved(context)) return;
  const uint64_t distance = distance_to_interrupted_stack(context);
  const long error = try_to_write(frame_of(context) - distance, end_of_frame(context) - distance);
  if (error == -EFAULT) die_of_overflow();
  if (error != 0) return;
  move(context, distance);
  ucontext_t* there = moved(&context, distance);
  jump(frame_of(*there), handler, number, moved(&info, distance), there);
}

}  // namespace varve::agent
