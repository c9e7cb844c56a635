// SPDX-License-Identifier: MIT
// See program_signal.h.
// Context: signal, hooks.
#include "agent/signal/program_signal.h"

#include "agent/signal/handler_stack.h"
#include "agent/signal/kernel_signal.h"
#include "agent/signal/raw_syscall.h"
#include "common/tick_event.h"

namespace varve::agent {
namespace {

int this_thread() { return int(raw_syscall(__NR_gettid)); }

/// A trap of the processor's, in the thread itself: the kernel ends a process that blocks or ignores it.
bool is_forced(const siginfo_t& info) {
  return info.si_signo == SIGTRAP && info.si_code > 0 && info.si_code != format::kTrapPerf;
}

}  // namespace

void send_again(const siginfo_t& info) {
  const long pid = raw_syscall(__NR_getpid);
  if (info.si_code == SI_TKILL)
    raw_syscall(__NR_tgkill, pid, this_thread(), info.si_signo);
  else if (failed(raw_syscall(__NR_rt_sigqueueinfo, pid, info.si_signo, as_arg(&info))))
    raw_syscall(__NR_kill, pid, info.si_signo);
}

/// By system call: sigaction() would add its SA_RESTORER to the flags that the program sees.
bool ProgramSignal::set_in_kernel(void (*handler)(int), unsigned long flags) const {
  const KernelAction action{reinterpret_cast<void*>(handler), flags};
  return !failed(raw_syscall(__NR_rt_sigaction, number_, as_arg(&action), 0, kKernelSetBytes));
}

bool ProgramSignal::send_to(int thread) const {
  return !failed(raw_syscall(__NR_tgkill, raw_syscall(__NR_getpid), thread, number_));
}

/// With its value, where the kernel takes this thread's word for who sent it: not for kill() and its own.
bool ProgramSignal::hand_to(int thread, const siginfo_t& info) const {
  return !failed(
             raw_syscall(__NR_rt_tgsigqueueinfo, raw_syscall(__NR_getpid), thread, number_, as_arg(&info))) ||
         send_to(thread);
}

/// The default action of these signals is to end the process: restore it, send the signal again, and let it
/// through on return. Where that is refused our handler would have it for ever: it ends by what needs no
/// action.
void ProgramSignal::die(ucontext_t& context) const {
  context.uc_sigmask.__val[0] &= ~bit();
  if (set_in_kernel(SIG_DFL, 0))
    send_to(this_thread());
  else
    raw_syscall(__NR_kill, raw_syscall(__NR_getpid), SIGKILL);
}

/// Blocks the signal for the thread that was interrupted, as it believes to do since before there was a
/// handler, and sends it again: to the thread, if it was meant, else to any that does not block it.
void ProgramSignal::pass_on(const siginfo_t& info, ucontext_t& context) const {
  context.uc_sigmask.__val[0] |= bit();
  send_again(info);
}

/// Our own handler runs with nearly all signals blocked; the program's has the mask that it asked for. Where
/// it is entered, the kernel restores on its return what was interrupted.
void ProgramSignal::call(const struct sigaction& action, siginfo_t& info, ucontext_t& context,
                         bool by_kernel) const {
  uint64_t mask = context.uc_sigmask.__val[0] | action.sa_mask.__val[0], before = 0;
  if (!(action.sa_flags & SA_NODEFER)) mask |= bit();
  raw_syscall(__NR_rt_sigprocmask, SIG_SETMASK, as_arg(&mask), as_arg(&before), kKernelSetBytes);
  if (by_kernel) enter_if_on_our_stack(action.sa_sigaction, number_, info, context);
  action.sa_sigaction(number_, &info, &context);
  raw_syscall(__NR_rt_sigprocmask, SIG_SETMASK, as_arg(&before), 0, kKernelSetBytes);
}

struct sigaction ProgramSignal::get() {
  SpinGuard guard(lock_);
  return action_;
}

void ProgramSignal::set(const struct sigaction& action) {
  SpinGuard guard(lock_);
  action_ = action;
  handled_.store(is_handler(action.sa_handler), std::memory_order_relaxed);
}

void ProgramSignal::deliver(siginfo_t& info, ucontext_t& context, const Met& met) {
  struct sigaction action = get();
  if (is_forced(info) && (met.blocked || action.sa_handler == SIG_IGN)) return die(context);
  if (is_handler(action.sa_handler)) {
    if (met.blocked || (met.in_tick && !is_forced(info))) return pass_on(info, context);
    struct sigaction next = action;
    next.sa_handler = SIG_DFL;  // and the rest stays, as in the kernel
    if (action.sa_flags & int(SA_RESETHAND)) set(next);
    return call(action, info, context, met.by_kernel);
  }
  // A tick of an event that a child of a fork has, too, and that thus outlives its thread's recording.
  const bool is_late_tick = info.si_signo == SIGTRAP && info.si_code == format::kTrapPerf;
  if (is_late_tick || (action.sa_handler == SIG_IGN && !met.blocked)) return;
  if (!met.blocked) return die(context);
  keep_pending(info);
  // A wait that begins from now on finds it; one that began before is told: the last first, as a wait may
  // have been left by a jump. Who handles it does not wait.
  end_wait();
  const unsigned last = last_waiter_.load();
  for (unsigned back = 0; back < kMostWaiters; ++back) {
    siginfo_t kept;
    const int waiter = waiters_[(last - back) % kMostWaiters].load();
    if (!waiter || !take_pending(kept)) continue;
    if (hand_to(waiter, kept)) return;
    keep_pending(kept);
  }
}

void ProgramSignal::keep_pending(const siginfo_t& info) {
  SpinGuard guard(lock_);
  if (pending_.load(std::memory_order_relaxed)) return;  // as in the kernel, the first one counts
  pending_info_ = info;
  pending_.store(true);
}

/// In the next free place after the last one's; of more than these one is forgotten.
void ProgramSignal::begin_wait() {
  const int mine = this_thread();
  const unsigned last = last_waiter_.load();
  for (unsigned place = last + 1; place <= last + kMostWaiters; ++place)
    if (int none = 0; waiters_[place % kMostWaiters].compare_exchange_strong(none, mine))
      return last_waiter_.store(place);
  waiters_[(last + 1) % kMostWaiters].store(mine);
}

void ProgramSignal::end_wait() {
  const int mine = this_thread();
  for (std::atomic<int>& each : waiters_)
    if (int waiter = mine; each.load() == mine) each.compare_exchange_strong(waiter, 0);
}

void ProgramSignal::put_back_unhandled() {
  const struct sigaction action = get();
  set_in_kernel(action.sa_handler, static_cast<unsigned long>(action.sa_flags));
}

bool ProgramSignal::take_pending(siginfo_t& info) {
  if (!pending_.load()) return false;
  SpinGuard guard(lock_);
  info = pending_info_;
  return pending_.exchange(false, std::memory_order_acq_rel);
}

void ProgramSignal::release_pending() {
  siginfo_t info;
  if (!take_pending(info)) return;
  raw_syscall(__NR_rt_tgsigqueueinfo, raw_syscall(__NR_getpid), raw_syscall(__NR_gettid), number_,
              as_arg(&info));
}

}  // namespace varve::agent
