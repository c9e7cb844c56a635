// SPDX-License-Identifier: MIT
// See interrupted_call.h.
// Context: signal.
#include "agent/signal/interrupted_call.h"

#include <linux/futex.h>
#include <signal.h>

#include <cerrno>
#include <cstring>

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

/// That let signals in for their time, by a mask of their own; which register says where that is, or where
/// its address is.
struct MaskedCall {
  short number;
  short set_by;
  bool is_pair;  // of address and size
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

/// The call behind which it stands, with EINTR. Its number is no longer in a register; the C library puts it
/// in one as the last before the call, or as the last but one, of four bytes.
const MaskedCall* ended_masked_call(const greg_t* registers) {
  const auto at = uint64_t(registers[REG_RIP]);
  if (registers[REG_RAX] != -EINTR || uint64_t(registers[REG_RCX]) != at) return nullptr;
  constexpr size_t kMove = 5, kBetween = 4, kCall = sizeof kSyscall;  // bytes of instructions
  uint8_t code[kMove + kBetween + kCall];
  if (!copy_by_kernel(at - sizeof code, code, sizeof code)) return nullptr;
  if (code[kMove + kBetween] != kSyscall[0] || code[kMove + kBetween + 1] != kSyscall[1]) return nullptr;
  for (const size_t move : {kBetween, size_t{0}}) {
    constexpr uint8_t kMoveToEax = 0xb8;
    int32_t number;
    std::memcpy(&number, code + move + 1, sizeof number);
    for (const MaskedCall& call : kMaskedCalls)
      if (code[move] == kMoveToEax && number == call.number) return &call;
  }
  return nullptr;
}

/// What it blocks; all where it has no mask, or its memory is gone.
uint64_t mask_of(const MaskedCall& call, const greg_t* registers) {
  auto at = uint64_t(registers[call.set_by]);
  if (call.is_pair && !copy_by_kernel(at, &at, sizeof at)) return ~uint64_t{0};
  uint64_t mask;
  return at && copy_by_kernel(at, &mask, sizeof mask) ? mask : ~uint64_t{0};
}

/// Those that have come to the thread and wait, but for ticks.
uint64_t pending_signals() {
  uint64_t pending = 0;
  if (failed(raw_syscall(__NR_rt_sigpending, as_arg(&pending), kKernelSetBytes))) return 0;
  return pending & ~agent_state.tick_signals;
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

void end_call(ucontext_t& context) {
  greg_t* registers = context.uc_mcontext.gregs;
  if (!is_restarted(registers) || !ends_calls(pending_signals() & ~context.uc_sigmask.__val[0])) return;
  registers[REG_RIP] = registers[REG_RCX];
  registers[REG_RAX] = -EINTR;
}

/// One that the thread lets in anyway comes before the call could be made again: then it is over.
void make_call_again(const MaskedCall& call, ucontext_t& context) {
  greg_t* registers = context.uc_mcontext.gregs;
  const uint64_t pending = pending_signals(), blocked = context.uc_sigmask.__val[0];
  if (!pending || pending & ~blocked || !(pending & ~mask_of(call, registers))) return;
  registers[REG_RIP] -= greg_t(sizeof kSyscall);
  registers[REG_RAX] = call.number;
}

}  // namespace

void leave_call_to_program(ucontext_t& context) {
  const greg_t* registers = context.uc_mcontext.gregs;
  if (is_filtered()) return;
  if (is_at_call_again(registers)) return end_call(context);
  if (const MaskedCall* call = ended_masked_call(registers)) make_call_again(*call, context);
}

}  // namespace varve::agent
