// SPDX-License-Identifier: MIT
// See interrupted_call.h.
// Context: signal.
#include "agent/signal/interrupted_call.h"

#include <linux/futex.h>
#include <signal.h>

#include <cerrno>

#include "agent/signal/agent_state.h"
#include "agent/signal/filtered.h"
#include "agent/signal/kernel_copy.h"
#include "agent/signal/kernel_signal.h"
#include "agent/signal/raw_syscall.h"

namespace varve::agent {
namespace {

/// That the kernel restarts after a handler with SA_RESTART and ends after one without (ERESTARTSYS); others
/// end after every handler, or after none.
constexpr short kRestarted[] = {
    __NR_read,     __NR_write,   __NR_readv,   __NR_writev,   __NR_recvfrom,        __NR_sendto,
    __NR_recvmsg,  __NR_sendmsg, __NR_accept,  __NR_accept4,  __NR_connect,         __NR_recvmmsg,
    __NR_sendmmsg, __NR_wait4,   __NR_waitid,  __NR_flock,    __NR_fcntl,           __NR_open,
    __NR_openat,   __NR_ioctl,   __NR_splice,  __NR_sendfile, __NR_mq_timedsend,    __NR_tee,
    __NR_vmsplice, __NR_futex,   __NR_preadv2, __NR_pwritev2, __NR_mq_timedreceive, __NR_getrandom,
};

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
  constexpr uint8_t kSyscall[] = {0x0f, 0x05};
  const auto at = uint64_t(registers[REG_RIP]);
  uint8_t code[sizeof kSyscall];
  return uint64_t(registers[REG_RCX]) == at + sizeof kSyscall && registers[REG_R11] == registers[REG_EFL] &&
         copy_by_kernel(at, code, sizeof code) && code[0] == kSyscall[0] && code[1] == kSyscall[1];
}

/// Those that the thread is to have next, but for ticks.
uint64_t pending_for(const ucontext_t& context) {
  uint64_t pending = 0;
  if (failed(raw_syscall(__NR_rt_sigpending, as_arg(&pending), kKernelSetBytes))) return 0;
  return pending & ~context.uc_sigmask.__val[0] & ~agent_state.tick_signals;
}

/// Whether the first of them that has a handler ends calls. The kernel takes the least number first.
bool ends_calls(uint64_t pending) {
  const void* const by_default = reinterpret_cast<void*>(SIG_DFL);
  const void* const ignored = reinterpret_cast<void*>(SIG_IGN);
  KernelAction action;
  for (; pending; pending &= pending - 1) {
    const long number = __builtin_ctzll(pending) + 1;
    if (failed(raw_syscall(__NR_rt_sigaction, number, 0, as_arg(&action), kKernelSetBytes))) return false;
    if (action.handler != by_default && action.handler != ignored) return !(action.flags & SA_RESTART);
  }
  return false;
}

}  // namespace

void end_call_for_program(ucontext_t& context) {
  greg_t* registers = context.uc_mcontext.gregs;
  if (!is_at_call_again(registers) || !is_restarted(registers) || is_filtered()) return;
  if (!ends_calls(pending_for(context))) return;
  registers[REG_RIP] = registers[REG_RCX];
  registers[REG_RAX] = -EINTR;
}

}  // namespace varve::agent
