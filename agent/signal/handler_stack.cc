// SPDX-License-Identifier: MIT
// See handler_stack.h. The kernel's frame for a signal on x86-64 (arch/x86/kernel/signal_64.c,
// setup_rt_frame), upward: return address, ucontext, siginfo, and at a multiple of 64 the state of the
// floating-point unit (arch/x86/include/uapi/asm/sigcontext.h), whose end is the end of the frame.
// rt_sigreturn takes it from wherever the stack pointer is. Context: signal.
#include "agent/signal/handler_stack.h"

#include <atomic>
#include <cstddef>
#include <cstring>

#include "agent/signal/alternate_stack.h"
#include "agent/signal/kernel_signal.h"
#include "agent/signal/raw_syscall.h"

namespace varve::agent {
namespace {

struct Slot {
  std::atomic<AnyHandler> handler;
  std::atomic<uint64_t> mask, blocked;
};
constinit Slot slots[kSignals + 1]{};

constexpr uint64_t kContextBytes = 304;     // of the kernel's own ucontext, whose set of signals has 8
constexpr uint64_t kRedZone = 128;          // below the stack pointer is the function's own, by the ABI
constexpr uint64_t kStateAlignment = 64;    // of XSAVE's area
constexpr uint64_t kLegacyState = 512;      // FXSAVE's area, where there is no XSAVE
constexpr uint64_t kSoftwareBytes = 464;    // of the words in it that the kernel leaves to itself
constexpr uint32_t kExtended = 0x46505853;  // FP_XSTATE_MAGIC1: and there the size of the whole follows
constexpr uint64_t kPage = 4096;

struct Entry {
  uint64_t frame;
  AnyHandler handler;
  int64_t number;
  siginfo_t* info;
  ucontext_t* context;
  uint64_t blocked;
};

/// The mask is set when the stack pointer is where it will stay: what was held back comes then. The mask lies
/// below it, in what signals leave alone. The registers are as the kernel leaves them to a handler: those of
/// the arguments, rax and the direction flag set, and all that a function must preserve as they were
/// interrupted, for who follows rbp.
[[gnu::naked, noreturn]] void jump(const Entry* /*rdi*/) {
  asm("mov 8(%rdi), %r12\n"
      "mov 16(%rdi), %r13\n"
      "mov 24(%rdi), %r14\n"
      "mov 32(%rdi), %r15\n"
      "mov 40(%rdi), %rax\n"
      "mov 0(%rdi), %rsp\n"
      "mov %rax, -8(%rsp)\n"
      "mov $14, %eax\n"  // rt_sigprocmask(SIG_SETMASK, &blocked, null, 8)
      "mov $2, %edi\n"
      "lea -8(%rsp), %rsi\n"
      "xor %edx, %edx\n"
      "mov $8, %r10d\n"
      "syscall\n"
      "mov %r12, %r11\n"
      "mov %r13d, %edi\n"
      "mov %r14, %rsi\n"
      "mov %r15, %rdx\n"
      "mov 40+4*8(%rdx), %r12\n"  // uc_mcontext.gregs[REG_R12]
      "mov 40+5*8(%rdx), %r13\n"
      "mov 40+6*8(%rdx), %r14\n"
      "mov 40+7*8(%rdx), %r15\n"
      "mov 40+10*8(%rdx), %rbp\n"
      "mov 40+11*8(%rdx), %rbx\n"
      "xor %eax, %eax\n"
      "jmp *%r11");
}
static_assert(offsetof(Entry, blocked) == 40 && offsetof(Entry, context) == 32);
static_assert(offsetof(ucontext_t, uc_mcontext.gregs) == 40 && REG_R12 == 4 && REG_R15 == 7 &&
              REG_RBP == 10 && REG_RBX == 11);
static_assert(__NR_rt_sigprocmask == 14 && SIG_SETMASK == 2 && kKernelSetBytes == 8);

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

/// Of the calling thread. Asks the kernel to write the thread's mask there: an address that has no memory is
/// refused, and a stack that may grow does.
bool can_write(uint64_t begin, uint64_t end) {
  for (uint64_t at = begin; at + sizeof(uint64_t) <= end; at = (at | (kPage - 1)) + 1)
    if (failed(raw_syscall(__NR_rt_sigprocmask, SIG_BLOCK, 0, long(at), kKernelSetBytes))) return false;
  return true;
}

/// What the kernel does where a frame has no room and the thread has no other stack (force_sigsegv()).
[[noreturn]] void die_of_overflow() {
  const long process = raw_syscall(__NR_getpid);
  const KernelAction by_default{};
  const uint64_t fault = uint64_t{1} << (SIGSEGV - 1);
  raw_syscall(__NR_rt_sigaction, SIGSEGV, as_arg(&by_default), 0, kKernelSetBytes);
  raw_syscall(__NR_rt_sigprocmask, SIG_UNBLOCK, as_arg(&fault), 0, kKernelSetBytes);
  raw_syscall(__NR_tgkill, process, raw_syscall(__NR_gettid), SIGSEGV);
  for (;;) raw_syscall(__NR_kill, process, SIGKILL);  // where one of these was refused
}

template <typename T>
T* moved(T* object, uint64_t distance) {
  return reinterpret_cast<T*>(address_of(object) - distance);
}

/// Moves the frame to below what was interrupted, where the kernel would have made it. Returns how far down,
/// which may be up: modulo 2^64. The alternate stack that it names is none, and none of a size that the
/// kernel would take on return: the thread keeps the one that it has then.
uint64_t move_to_interrupted_stack(const ucontext_t& context) {
  const uint64_t end = end_of_frame(context), frame = frame_of(context);
  const uint64_t highest = stack_pointer(context) - kRedZone;
  const uint64_t distance = (end - highest + kStateAlignment - 1) & ~(kStateAlignment - 1);
  if (!can_write(frame - distance, end - distance)) die_of_overflow();
  std::memcpy(reinterpret_cast<void*>(frame - distance), reinterpret_cast<const void*>(frame), end - frame);
  auto& there = const_cast<ucontext_t&>(*moved(&context, distance));
  fpregset_t& state = there.uc_mcontext.fpregs;
  if (state) state = moved(state, distance);
  there.uc_stack = {};
  return distance;
}

}  // namespace

EnteredHandler entered_handler(int number) {
  const Slot& slot = slots[number];
  return {slot.handler.load(std::memory_order_relaxed), slot.mask.load(std::memory_order_relaxed),
          slot.blocked.load(std::memory_order_relaxed)};
}

void set_entered_handler(int number, const EnteredHandler& entered) {
  Slot& slot = slots[number];
  slot.mask.store(entered.mask, std::memory_order_relaxed);
  slot.blocked.store(entered.blocked, std::memory_order_relaxed);
  slot.handler.store(entered.handler, std::memory_order_relaxed);
}

[[gnu::noinline]] void enter_on_its_stack(int number, siginfo_t* info, void* interrupted) {
  auto& context = *static_cast<ucontext_t*>(interrupted);
  const EnteredHandler entered = entered_handler(number);
  const uint64_t blocked = context.uc_sigmask.__val[0] | entered.blocked;
  const bool by_kernel =
      is_frame_of_kernel(context, address_of(__builtin_frame_address(0)) + sizeof(uint64_t));
  (by_kernel ? enter_handler : call_handler)(entered.handler, blocked, number, *info, context);
}

bool is_on_our_stack(const ucontext_t& context) {
  const stack_t& stack = context.uc_stack;
  return holds(stack, frame_of(context)) && !holds(stack, stack_pointer(context)) &&
         is_our_alternate_stack(stack.ss_sp);
}

void enter_handler(AnyHandler handler, uint64_t blocked, int number, siginfo_t& info, ucontext_t& context) {
  const uint64_t distance = is_on_our_stack(context) ? move_to_interrupted_stack(context) : 0;
  ucontext_t* there = moved(&context, distance);
  const Entry entry{frame_of(*there), handler, number, moved(&info, distance), there, blocked};
  jump(&entry);
}

void call_handler(AnyHandler handler, uint64_t blocked, int number, siginfo_t& info, ucontext_t& context) {
  uint64_t before = 0;
  raw_syscall(__NR_rt_sigprocmask, SIG_SETMASK, as_arg(&blocked), as_arg(&before), kKernelSetBytes);
  handler(number, &info, &context);
  raw_syscall(__NR_rt_sigprocmask, SIG_SETMASK, as_arg(&before), 0, kKernelSetBytes);
}

}  // namespace varve::agent
