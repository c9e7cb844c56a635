// SPDX-License-Identifier: MIT
// See handler_stack.h. The kernel's frame for a signal on x86-64 (arch/x86/kernel/signal_64.c,
// setup_rt_frame), upward: return address, ucontext, siginfo, and at a multiple of 64 the state of the
// floating-point unit (arch/x86/include/uapi/asm/sigcontext.h), whose end is the end of the frame.
// rt_sigreturn takes it from wherever the stack pointer is. Context: signal.
#include "agent/signal/handler_stack.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/signal/alternate_stack.h"
#include "agent/signal/kernel_signal.h"
#include "agent/signal/raw_syscall.h"

namespace varve::agent {
namespace {

std::atomic<AnyHandler> handlers[kSignals + 1]{};

constexpr uint64_t kContextBytes = 304;     // of the kernel's own ucontext, whose set of signals has 8
constexpr uint64_t kRedZone = 128;          // below the stack pointer is the function's own, by the ABI
constexpr uint64_t kStateAlignment = 64;    // of XSAVE's area
constexpr uint64_t kLegacyState = 512;      // FXSAVE's area, where there is no XSAVE
constexpr uint64_t kSoftwareBytes = 464;    // of the words in it that the kernel leaves to itself
constexpr uint32_t kExtended = 0x46505853;  // FP_XSTATE_MAGIC1: and there the size of the whole follows

constexpr uint64_t kCopyCodeBytes = 6;  // of copy_frame()

/// Copies upward, so that a stack that has overflowed faults before a byte is written.
[[gnu::naked]] void copy_frame(void* /*to*/, const void* /*from*/, uint64_t /*bytes*/) {
  asm("mov %rdx, %rcx\n"
      "rep movsb\n"
      "ret");
}

/// The registers as the kernel leaves them to a handler: those of the arguments, rax and the direction flag
/// set, all that a function must preserve as they were interrupted. A profiler of the program's may follow
/// rbp.
[[gnu::naked, noreturn]] void jump(void* /*frame*/, AnyHandler /*handler*/, int /*number*/,
                                   siginfo_t* /*info*/, const greg_t* /*interrupted*/, void* /*context*/) {
  asm("mov %rdi, %rsp\n"
      "mov %rsi, %r11\n"
      "mov %edx, %edi\n"
      "mov %rcx, %rsi\n"
      "mov %r9, %rdx\n"
      "mov 4*8(%r8), %r12\n"
      "mov 5*8(%r8), %r13\n"
      "mov 6*8(%r8), %r14\n"
      "mov 7*8(%r8), %r15\n"
      "mov 10*8(%r8), %rbp\n"
      "mov 11*8(%r8), %rbx\n"
      "xor %eax, %eax\n"
      "jmp *%r11");
}
static_assert(REG_R12 == 4 && REG_R15 == 7 && REG_RBP == 10 && REG_RBX == 11);

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

/// The stack of the thread's that a handler of it begins on, as the kernel noted at the signal.
bool holds(const stack_t& stack, uint64_t address) {
  return address - address_of(stack.ss_sp) < stack.ss_size;
}

/// The frame lies on an alternate stack that it would not be on without us.
bool is_on_wrong_stack(const ucontext_t& context, bool alternate) {
  const stack_t& stack = context.uc_stack;
  if (!holds(stack, frame_of(context)) || holds(stack, stack_pointer(context))) return false;
  return !alternate || is_our_alternate_stack(stack.ss_sp);
}

template <typename T>
T* moved(T* object, uint64_t distance) {
  return reinterpret_cast<T*>(address_of(object) - distance);
}

/// Moves the frame to below what was interrupted, where the kernel would have made it. Returns how far down,
/// which may be up; modulo 2^64.
uint64_t move_to_interrupted_stack(ucontext_t& context) {
  const uint64_t end = end_of_frame(context), frame = frame_of(context);
  const uint64_t highest = stack_pointer(context) - kRedZone;
  const uint64_t distance = (end - highest + kStateAlignment - 1) & ~(kStateAlignment - 1);
  copy_frame(reinterpret_cast<void*>(frame - distance), reinterpret_cast<const void*>(frame), end - frame);
  fpregset_t& state = moved(&context, distance)->uc_mcontext.fpregs;
  if (state) state = moved(state, distance);
  return distance;
}

/// There was no room for the frame of another signal. The kernel would have ended the process at that one.
bool is_fault_of_copying(int number, const ucontext_t& context) {
  const uint64_t code = reinterpret_cast<uint64_t>(&copy_frame);
  return (number == SIGSEGV || number == SIGBUS) &&
         uint64_t(context.uc_mcontext.gregs[REG_RIP]) - code < kCopyCodeBytes;
}

/// The instruction faults again on return. Where the default action is refused that would be for ever.
void let_die_of(int number) {
  const KernelAction by_default{};
  if (failed(raw_syscall(__NR_rt_sigaction, number, as_arg(&by_default), 0, kKernelSetBytes)))
    raw_syscall(__NR_kill, raw_syscall(__NR_getpid), SIGKILL);
}

}  // namespace

AnyHandler entered_handler(int number) { return handlers[number].load(std::memory_order_relaxed); }

AnyHandler set_entered_handler(int number, AnyHandler handler) {
  return handlers[number].exchange(handler, std::memory_order_relaxed);
}

void enter_on_its_stack(int number, siginfo_t* info, void* interrupted) {
  auto& context = *static_cast<ucontext_t*>(interrupted);
  if (is_fault_of_copying(number, context)) return let_die_of(number);
  enter_handler(entered_handler(number), true, number, *info, context);
}

void enter_handler(AnyHandler handler, bool alternate, int number, siginfo_t& info, ucontext_t& context) {
  const uint64_t distance = is_on_wrong_stack(context, alternate) ? move_to_interrupted_stack(context) : 0;
  ucontext_t* here = moved(&context, distance);
  jump(reinterpret_cast<void*>(frame_of(*here)), handler, number, moved(&info, distance),
       here->uc_mcontext.gregs, here);
}

}  // namespace varve::agent
