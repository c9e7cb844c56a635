// SPDX-License-Identifier: MIT
// See interrupted_call.h.
// Context: signal.
#include "agent/signal/interrupted_call.h"

#include <linux/futex.h>
#include <signal.h>

#include <cerrno>

#include "agent/signal/agent_state.h"
#include "agent/signal/filtered.h"
#include "agent/signal/handler_stack.h"
#include "agent/signal/kernel_copy.h"
#include "agent/signal/kernel_signal.h"
#include "agent/signal/raw_syscall.h"

namespace varve::agent {
namespace {

/// Since Linux 5.16; the headers of some systems are older.
constexpr short kFutexWaitv = 449;

/// That the kernel restarts after a handler with SA_RESTART and ends after one without (ERESTARTSYS); others
/// end after every handler, or after none.
constexpr short kRestarted[] = {
    __NR_read,         __NR_write,    __NR_readv,           __NR_writev,
    __NR_recvfrom,     __NR_sendto,   __NR_recvmsg,         __NR_sendmsg,
    __NR_accept,       __NR_accept4,  __NR_connect,         __NR_recvmmsg,
    __NR_sendmmsg,     __NR_wait4,    __NR_waitid,          __NR_flock,
    __NR_fcntl,        __NR_open,     __NR_creat,           __NR_openat2,
    __NR_openat,       __NR_ioctl,    __NR_splice,          __NR_sendfile,
    __NR_mq_timedsend, __NR_tee,      __NR_vmsplice,        __NR_futex,
    __NR_preadv2,      __NR_pwritev2, __NR_mq_timedreceive, __NR_getrandom,
    kFutexWaitv,
};

/// In which register calls with a mask of their own have its address, or that of address and size.
struct MaskedCall {
  short number;
  short set_by;
  bool is_pair;
};
constexpr MaskedCall kMaskedCalls[] = {
    {__NR_rt_sigsuspend, REG_RDI, false}, {__NR_ppoll, REG_R10, false},       {__NR_pselect6, REG_R9, true},
    {__NR_epoll_pwait, REG_R8, false},    {__NR_epoll_pwait2, REG_R8, false},
};

constexpr uint8_t kSyscall[] = {0x0f, 0x05};

bool is_restarted(const greg_t* registers) {
  const greg_t number = registers[REG_RAX], operation = registers[REG_RSI] & FUTEX_CMD_MASK;
  if (number == __NR_futex) return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
  for (const short each : kRestarted)
    if (number == each) return true;
  return false;
}

/// It stands at the instruction again, which has left where it returns to in rcx and the flags in r11 (AMD64
/// manual, volume 3, SYSCALL).
bool is_at_call_again(const greg_t* registers) {
  const auto at = uint64_t(registers[REG_RIP]);
  uint8_t code[sizeof kSyscall];
  return uint64_t(registers[REG_RCX]) == at + sizeof kSyscall && registers[REG_R11] == registers[REG_EFL] &&
         copy_by_kernel(at, code, sizeof code) && code[0] == kSyscall[0] && code[1] == kSyscall[1];
}

/// Where a call has its mask; 0 where that cannot be said.
uint64_t set_of(const MaskedCall& call, const greg_t* registers) {
  uint64_t at = uint64_t(registers[call.set_by]);
  return call.is_pair && !copy_by_kernel(at, &at, sizeof at) ? 0 : at;
}

/// It stands behind the call that the thread noted, which ended with EINTR. The call's number is no longer in
/// a register, but the address of its mask is; a note may be left over from a wait that was left by a jump.
bool has_ended_call(const MaskedWait& wait, const greg_t* registers) {
  if (wait.number == 0 || registers[REG_RAX] != -EINTR) return false;
  uint8_t code[sizeof kSyscall];
  if (!copy_by_kernel(uint64_t(registers[REG_RIP]) - sizeof code, code, sizeof code) ||
      code[0] != kSyscall[0] || code[1] != kSyscall[1])
    return false;
  for (const MaskedCall& call : kMaskedCalls)
    if (call.number == wait.number) return set_of(call, registers) == wait.set_at;
  return false;
}

/// Those that have come to the thread and wait, but for ticks. A program that handles a signal of ticks
/// itself may have its calls ended by one: varve-safety(7).
uint64_t pending_signals() {
  uint64_t pending = 0;
  if (failed(raw_syscall(__NR_rt_sigpending, as_arg(&pending), kKernelSetBytes))) return 0;
  return pending & ~(agent_state.tick_signals & ~agent_state.handled_signals());
}

/// What the kernel has for a signal; without a handler where it does not say.
KernelAction action_of(int number) {
  KernelAction action;
  return failed(raw_syscall(__NR_rt_sigaction, number, 0, as_arg(&action), kKernelSetBytes)) ? KernelAction{}
                                                                                             : action;
}

bool has_handler(const KernelAction& action) {
  return action.handler != reinterpret_cast<void*>(SIG_DFL) &&
         action.handler != reinterpret_cast<void*>(SIG_IGN);
}

/// Whether one of them has a handler that ends calls. Which of several the kernel takes first depends on
/// whether they were sent to the thread or to the process, and it does not say: a call too many that ends is
/// what the program must expect, one that waits on may wait for ever.
bool ends_calls(uint64_t pending) {
  for (; pending; pending &= pending - 1)
    if (const KernelAction action = action_of(__builtin_ctzll(pending) + 1);
        has_handler(action) && !(action.flags & SA_RESTART))
      return true;
  return false;
}

void end_call(ucontext_t& context) {
  greg_t* registers = context.uc_mcontext.gregs;
  if (!is_restarted(registers) || !ends_calls(pending_signals() & ~context.uc_sigmask.__val[0])) return;
  registers[REG_RIP] = registers[REG_RCX];
  registers[REG_RAX] = -EINTR;
}

/// Whether a handler of the program's may have ended the call before the tick came, in whose time these were
/// held back: then they are for the next call. After one that holds ticks back they come just then; faults,
/// for which we hold them back, end no call. The kernel queues signals from 32 on.
bool may_have_been_held(uint64_t pending) {
  constexpr uint64_t kQueued = ~uint64_t{0} << 31;
  if (pending & kQueued || agent_state.handled_signals()) return true;
  for (int number = 1; number <= kSignals; ++number) {
    if (agent_state.tick_signals >> (number - 1) & 1) continue;
    const KernelAction action = action_of(number);
    const uint64_t held_back = action.mask & ~entered_handler(number).held;
    if (has_handler(action) && held_back & (pending | agent_state.tick_signals)) return true;
  }
  return false;
}

/// Where one is pending that the thread lets in anyway the call is over: it would come before the call is
/// made again.
void make_call_again(const MaskedWait& wait, ucontext_t& context) {
  greg_t* registers = context.uc_mcontext.gregs;
  const uint64_t pending = pending_signals(), blocked = context.uc_sigmask.__val[0],
                 let_in = pending & ~wait.mask;
  if (!let_in || pending & ~blocked || may_have_been_held(let_in)) return;
  registers[REG_RIP] -= greg_t(sizeof kSyscall);
  registers[REG_RAX] = wait.number;
}

}  // namespace

void leave_call_to_program(const ThreadBlock& block, ucontext_t& context) {
  const greg_t* registers = context.uc_mcontext.gregs;
  if (!agent_state.recorded()) return;
  if (is_at_call_again(registers)) {
    if (!is_filtered()) end_call(context);
  } else if (has_ended_call(block.masked_wait, registers) && !is_filtered()) {
    make_call_again(block.masked_wait, context);
  }
}

}  // namespace varve::agent
