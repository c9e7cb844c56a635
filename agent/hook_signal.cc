// SPDX-License-Identifier: MIT
// Signals as the program sees them. SIGPROF has the disposition the program gave it, not ours. Masks leave
// SIGPROF out unless it handles SIGPROF itself, but show it as blocked, and one from elsewhere stays pending
// until it is unblocked or waited for. Its handlers of faults run with ticks held back where they ask for an
// alternate stack (SA_ONSTACK, often a small one), but not with SA_NODEFER: one that leaves by longjmp would
// leave them blocked. Its alternate stacks are its own, and ours is not shown. Of the flags of its SIGPROF
// handler SA_SIGINFO, SA_RESETHAND, SA_NODEFER and the mask are as asked. Without SA_RESTART its system calls
// return EINTR, but for ticks as well as for its own signals, because the kernel asks the flag of the one
// handler it knows; a one-shot handler (SA_RESETHAND) always restarts, as ticks come after it too. SA_ONSTACK
// is always on, with our stack where the program has none. Not kept up: the mask that siglongjmp and
// swapcontext restore, and a SIGPROF from elsewhere that is read by signalfd: it stays pending. Context: any
// thread of the target, its signal handlers included.
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>

#include <atomic>
#include <cerrno>

#include "agent/descriptor_wait.h"
#include "agent/hooks.h"
#include "agent/image.h"
#include "agent/program_memory.h"
#include "agent/real.h"
#include "agent/signal/agent_state.h"
#include "agent/signal/clock.h"
#include "agent/signal/tick_handler.h"
#include "agent/signal_block.h"
#include "agent/thread_registry.h"

namespace varve::agent {
namespace {

using format::ObjectKind;
using Handler = void (*)(int);
Real<int(int, const struct sigaction*, struct sigaction*)> sigaction_real{"sigaction"};
Real<Handler(int, Handler)> real_signal{"signal"};
Real<Handler(int, Handler)> real_sysv_signal{"__sysv_signal"};
Real<int(int)> real_sigignore{"sigignore"};
Real<Handler(int, Handler)> real_sigset{"sigset"};
Real<int(int, const sigset_t*, sigset_t*)> real_sigprocmask{"sigprocmask"};
Real<int(int, const sigset_t*, sigset_t*)> real_pthread_sigmask{"pthread_sigmask"};
Real<int(const sigset_t*, int*)> real_sigwait{"sigwait"};
Real<int(const sigset_t*, siginfo_t*)> real_sigwaitinfo{"sigwaitinfo"};
Real<int(const sigset_t*, siginfo_t*, const timespec*)> real_sigtimedwait{"sigtimedwait"};
Real<int(const sigset_t*)> real_sigsuspend{"sigsuspend"};
Real<int(int, const sigset_t*, int)> real_signalfd{"signalfd"};
Real<int(pollfd*, nfds_t, const timespec*, const sigset_t*)> real_ppoll{"ppoll"};
Real<int(pollfd*, nfds_t, const timespec*, const sigset_t*, size_t)> real_ppoll_chk{"__ppoll_chk"};
Real<int(int, fd_set*, fd_set*, fd_set*, const timespec*, const sigset_t*)> real_pselect{"pselect"};
Real<int(int, epoll_event*, int, int, const sigset_t*)> real_epoll_pwait{"epoll_pwait"};
Real<int(int, epoll_event*, int, const timespec*, const sigset_t*)> real_epoll_pwait2{"epoll_pwait2"};
Real<int(const stack_t*, stack_t*)> real_sigaltstack{"sigaltstack"};

bool virtualises() { return agent_state.active.load(std::memory_order_relaxed); }
/// A program that handles SIGPROF itself also means what its masks say of it.
bool filters() { return virtualises() && !agent_state.program_sigprof.handled(); }

/// Whether SIGPROF is in a set that the C library hands to the kernel unseen: 1, 0, or -1 of one that is in
/// no memory.
int named_in(const sigset_t* set) {
  return can_read(set, kKernelSignalSetBytes) ? sigismember(set, SIGPROF) : -1;
}

/// A set of the program without SIGPROF, or the set itself where it does not matter.
class FilteredSet {
 public:
  FilteredSet(const sigset_t* given, bool names_sigprof) : set_(given) {
    if (!names_sigprof || !filters()) return;
    copy_.__val[0] = given->__val[0];  // the kernel's set: the rest of the C library's may be in no memory
    sigdelset(&copy_, SIGPROF);
    set_ = &copy_;
  }
  const sigset_t* get() const { return set_; }

 private:
  const sigset_t* set_;
  sigset_t copy_{};
};

void let_pending_in() {
  SignalBlock guard;
  agent_state.program_sigprof.release_pending();
}

/// The mask of a wait, for its time.
class WaitMask {
 public:
  explicit WaitMask(const sigset_t* given)
      : named_(given ? named_in(given) : -1),
        filtered_(given, named_ == 1),
        block_(virtualises() ? current_block : nullptr) {
    if (named_ < 0 || !block_) return;
    was_blocked_ = block_->program_blocks_sigprof;
    block_->program_blocks_sigprof = named_ == 1;
    changed_ = true;
    if (!block_->program_blocks_sigprof) let_pending_in();
  }
  ~WaitMask() {
    if (changed_) block_->program_blocks_sigprof = was_blocked_;
  }
  WaitMask(const WaitMask&) = delete;
  WaitMask& operator=(const WaitMask&) = delete;
  const sigset_t* get() const { return filtered_.get(); }

 private:
  int named_;
  FilteredSet filtered_;
  ThreadBlock* block_;
  bool changed_ = false, was_blocked_ = false;
};

bool is_blocked_after(int how, const sigset_t* set, bool before) {
  bool named = set && sigismember(set, SIGPROF) == 1;
  if (how == SIG_SETMASK && set) return named;
  return how == SIG_UNBLOCK ? before && !named : before || named;
}

using MaskChange = int(int, const sigset_t*, sigset_t*);

/// While a handler runs in whose sa_mask SIGPROF stands the kernel blocks it, without a word of the thread's.
/// What such a handler blocks ends with it.
bool blocked_for_a_handler(const ThreadBlock& block, int how, const sigset_t* set) {
  if (!set || how == SIG_UNBLOCK || sigismember(set, SIGPROF) != 1) return false;
  if (!filters() || block.program_blocks_sigprof) return false;
  return change_mask(SIG_BLOCK, 0) & kSigprofBit;
}

/// SIGPROF is noted as let in before it is, and as blocked after it is: what comes in between is delivered.
int change_program_mask(Real<MaskChange>& real, int how, const sigset_t* set, sigset_t* before) {
  ThreadBlock* block = virtualises() ? current_block : nullptr;
  if (!block || blocked_for_a_handler(*block, how, set)) return real(how, set, before);
  FilteredSet filtered(set, how != SIG_UNBLOCK && set && sigismember(set, SIGPROF) == 1);
  bool was = block->program_blocks_sigprof, will = is_blocked_after(how, set, was);
  bool changes = was != will && in_recorded_process();  // a vfork's child has a mask, but no block of its own
  if (changes && was) block->program_blocks_sigprof = false;
  int result = real(how, filtered.get(), before);
  if (changes) block->program_blocks_sigprof = result ? was : will;
  if (!result && before && was) sigaddset(before, SIGPROF);
  if (!result && changes && was) let_pending_in();
  return result;
}

bool waits_for_sigprof(const sigset_t* set) { return virtualises() && current_block && named_in(set) == 1; }

/// False: the kernel answers EFAULT or EINVAL.
bool is_limit(const timespec* time) {
  return !time || (can_read(time, sizeof *time) && time->tv_sec >= 0 && time->tv_nsec >= 0 &&
                   time->tv_nsec < 1'000'000'000);
}

/// A SIGPROF that was kept, or a signal that is pending too and comes before it: the kernel hands them out by
/// number. 0: there is none.
int take_kept(const sigset_t& set, siginfo_t& got) {
  if (!agent_state.program_sigprof.has_pending()) return 0;
  sigset_t before{};
  before.__val[0] = set.__val[0] & (kSigprofBit - 1);
  const timespec now{};
  const int saved_errno = errno, result = before.__val[0] ? real_sigtimedwait(&before, &got, &now) : 0;
  if (result > 0) return result;
  errno = saved_errno;
  return agent_state.program_sigprof.take_pending(got) ? SIGPROF : 0;
}

/// sigtimedwait() with SIGPROF in its set: ticks are not what the program waits for. They cost it no time:
/// the next one has it all.
int wait_past_ticks(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  uint64_t end = timeout ? monotonic_ns() + to_nanos(*timeout) : 0;
  timespec left = timeout ? *timeout : timespec{};
  uint64_t mask = change_mask(SIG_BLOCK, kSigprofBit);  // what comes from now on is the kernel's to keep
  agent_state.program_sigprof.begin_wait();
  siginfo_t got = {};
  int result = take_kept(*set, got);
  while (!result) {
    result = real_sigtimedwait(set, &got, timeout ? static_cast<const timespec*>(&left) : nullptr);
    if (result != SIGPROF || got.si_code != SI_TIMER || got.si_value.sival_ptr != current_block) break;
    result = 0;
    uint64_t now = monotonic_ns(), rest = end > now ? end - now : 0;
    left = to_timespec(rest);
  }
  int saved_errno = errno;
  agent_state.program_sigprof.end_wait();
  change_mask(SIG_SETMASK, mask);
  errno = saved_errno;
  if (!info || result <= 0) return result;
  if (!can_write_over(info, sizeof *info)) return errno = EFAULT, -1;
  *info = got;
  return result;
}

bool is_fault(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGTRAP;
}

/// A child of vfork sets dispositions of its own process; only this copy of them is shared with its parent.
bool owns_dispositions() { return in_recorded_process(); }

/// A handler of the program's that came within a tick and left it by a jump, or by an asynchronous
/// cancellation, would leave SIGPROF blocked, and perhaps a lock of ours taken. Only faults stay let in: the
/// kernel ends a process where one is blocked.
constexpr uint64_t kHeldInTicks = ~uint64_t{1u << (SIGSEGV - 1) | 1u << (SIGBUS - 1) | 1u << (SIGILL - 1) |
                                            1u << (SIGFPE - 1) | 1u << (SIGTRAP - 1)};

/// Ticks interrupt no system call, unless the program's own SIGPROFs are to do so.
bool install_handler(const struct sigaction& program, struct sigaction* before) {
  bool interrupts = agent_state.program_sigprof.handled() && !(program.sa_flags & SA_RESTART) &&
                    !(program.sa_flags & int(SA_RESETHAND));
  if (const long error = refused(__NR_rt_sigaction)) return errno = int(-error), false;
  struct sigaction ours = {};
  ours.sa_sigaction = handle_sigprof;
  ours.sa_mask.__val[0] = kHeldInTicks;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (interrupts ? 0 : SA_RESTART);
  return sigaction_real(SIGPROF, static_cast<const struct sigaction*>(&ours), before) == 0;
}

/// A copy: to read what is in no memory faults here, where the program's handler of faults is let in.
void set_program_action(const struct sigaction action) {
  bool was_handled = agent_state.program_sigprof.handled();
  {
    SignalBlock guard;
    agent_state.program_sigprof.set(action);
    install_handler(action, nullptr);
  }
  // The mask is filtered by whether there is a handler: what was blocked before is from now on, and the
  // reverse.
  bool handled = agent_state.program_sigprof.handled();
  if (handled == was_handled || !current_block || !current_block->program_blocks_sigprof) return;
  change_mask(handled ? SIG_BLOCK : SIG_UNBLOCK, kSigprofBit);
}

int program_sigaction(const struct sigaction* action, struct sigaction* before) {
  struct sigaction old = agent_state.program_sigprof.get();
  if (action) set_program_action(*action);
  if (before) *before = old;
  return 0;
}

/// Fault signals in whose masks SIGPROF stands by our doing, as a set of bits.
std::atomic<uint64_t> held_faults{0};

/// Ticks are held back from handlers that may stand on a small stack. One that leaves by longjmp with
/// SA_NODEFER would leave them blocked for good.
bool holds_ticks(const struct sigaction& action) {
  return (action.sa_flags & SA_ONSTACK) && !(action.sa_flags & SA_NODEFER) &&
         sigismember(&action.sa_mask, SIGPROF) != 1;
}

int fault_sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  uint64_t bit = uint64_t{1} << signal;
  bool was_held = held_faults.load(std::memory_order_relaxed) & bit;
  struct sigaction held = {};
  if (action) held = *action;
  bool hold = action && holds_ticks(held);
  if (hold) sigaddset(&held.sa_mask, SIGPROF);
  int result = sigaction_real(signal, action ? static_cast<const struct sigaction*>(&held) : nullptr, before);
  if (result) return result;
  if (before && was_held) sigdelset(&before->sa_mask, SIGPROF);
  if (action && hold) held_faults.fetch_or(bit, std::memory_order_relaxed);
  if (action && !hold) held_faults.fetch_and(~bit, std::memory_order_relaxed);
  return 0;
}

/// signal() and its kin for SIGPROF.
Handler set_program_handler(Handler handler, int flags) {
  struct sigaction action = {}, before = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  if (!(flags & SA_NODEFER)) sigaddset(&action.sa_mask, SIGPROF);
  program_sigaction(&action, &before);
  return before.sa_handler;
}

constexpr int kBsd = SA_RESTART;
constexpr int kSystemV = int(SA_RESETHAND | SA_NODEFER);

}  // namespace

void resolve_signal_hooks() {
  sigaction_real.get(), real_signal.get(), real_sigprocmask.get(), real_pthread_sigmask.get(),
      real_sigwait.get();
  real_sysv_signal.get(), real_sigignore.get(), real_sigset.get();
  real_sigwaitinfo.get(), real_sigtimedwait.get(), real_sigsuspend.get(), real_signalfd.get(),
      real_ppoll.get();
  real_ppoll_chk.get(), real_pselect.get(), real_epoll_pwait.get(), real_epoll_pwait2.get(),
      real_sigaltstack.get();
}

bool begin_sigprof() {
  struct sigaction before = {};
  if (!install_handler(before, &before)) return false;
  agent_state.program_sigprof.set(before);
  return true;
}

void end_sigprof(ThreadBlock* block) {
  struct sigaction program = agent_state.program_sigprof.get();
  if (agent_state.program_sigprof.handled())
    sigaction_real(SIGPROF, static_cast<const struct sigaction*>(&program),
                   static_cast<struct sigaction*>(nullptr));
  else
    agent_state.program_sigprof.put_back_unhandled();
  if (!block) return;
  remove_alternate_stack(*block);
  if (block->program_blocks_sigprof) change_mask(SIG_BLOCK, kSigprofBit);
}

void hand_on_ignored_sigprof() {
  if (virtualises() && agent_state.program_sigprof.get().sa_handler == SIG_IGN)
    agent_state.program_sigprof.put_back_unhandled();
}

void take_back_ignored_sigprof() {
  if (!virtualises()) return;
  struct sigaction program = agent_state.program_sigprof.get();
  if (program.sa_handler == SIG_IGN) install_handler(program, nullptr);
}

VARVE_HOOK int sigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  if (signal == SIGPROF && owns_dispositions()) return program_sigaction(action, before);
  if (is_fault(signal) && owns_dispositions()) return fault_sigaction(signal, action, before);
  return sigaction_real(signal, action, before);
}

VARVE_HOOK Handler signal(int number, Handler handler) noexcept {
  if (number != SIGPROF || !owns_dispositions()) return real_signal(number, handler);
  return set_program_handler(handler, kBsd);
}

VARVE_HOOK Handler ssignal(int number, Handler handler) noexcept { return signal(number, handler); }
VARVE_HOOK Handler bsd_signal(int number, Handler handler) noexcept { return signal(number, handler); }

/// What signal() is in programs built for strict ISO C.
VARVE_HOOK Handler __sysv_signal(int number, Handler handler) noexcept {
  if (number != SIGPROF || !owns_dispositions()) return real_sysv_signal(number, handler);
  return set_program_handler(handler, kSystemV);
}

VARVE_HOOK Handler sysv_signal(int number, Handler handler) noexcept {
  return __sysv_signal(number, handler);
}

VARVE_HOOK int sigignore(int number) noexcept {
  if (number != SIGPROF || !owns_dispositions()) return real_sigignore(number);
  set_program_handler(SIG_IGN, 0);
  return 0;
}

VARVE_HOOK Handler sigset(int number, Handler handler) noexcept {
  if (number != SIGPROF || !owns_dispositions() || handler == SIG_HOLD) return real_sigset(number, handler);
  return set_program_handler(handler, 0);
}

VARVE_HOOK int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return change_program_mask(real_sigprocmask, how, set, before);
}

VARVE_HOOK int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return change_program_mask(real_pthread_sigmask, how, set, before);
}

VARVE_HOOK int sigwait(const sigset_t* set, int* number) {
  Waiting waiting(ObjectKind::kSignal, 0, Asked::kNo);
  if (!waits_for_sigprof(set)) return real_sigwait(set, number);
  int saved_errno = errno, result;
  do result = wait_past_ticks(set, nullptr, nullptr);
  while (result < 0 && errno == EINTR);
  if (result < 0) result = -errno;
  errno = saved_errno;
  if (result < 0) return -result;
  *number = result;
  return 0;
}

VARVE_HOOK int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  Waiting waiting(ObjectKind::kSignal, 0, Asked::kNo);
  return waits_for_sigprof(set) ? wait_past_ticks(set, info, nullptr) : real_sigwaitinfo(set, info);
}

VARVE_HOOK int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  Waiting waiting(ObjectKind::kSignal, 0, Asked::kNo);
  return waits_for_sigprof(set) && is_limit(timeout) ? wait_past_ticks(set, info, timeout)
                                                     : real_sigtimedwait(set, info, timeout);
}

VARVE_HOOK int sigsuspend(const sigset_t* set) {
  WaitMask filtered(set);
  Waiting waiting(ObjectKind::kSignal, 0, Asked::kNo);
  return real_sigsuspend(filtered.get());
}

VARVE_HOOK int signalfd(int fd, const sigset_t* set, int flags) noexcept {
  FilteredSet filtered(set, named_in(set) == 1);
  return real_signalfd(fd, filtered.get(), flags);
}

VARVE_HOOK int ppoll(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* set) {
  WaitMask filtered(set);
  return polled(fds, count, [&] { return real_ppoll(fds, count, timeout, filtered.get()); });
}
VARVE_HOOK int __ppoll_chk(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* set,
                           size_t room) {
  WaitMask filtered(set);
  return polled(fds, count, [&] { return real_ppoll_chk(fds, count, timeout, filtered.get(), room); });
}

VARVE_HOOK int pselect(int count, fd_set* in, fd_set* out, fd_set* except, const timespec* timeout,
                       const sigset_t* set) {
  WaitMask filtered(set);
  Waiting waiting(polls(count != 0), Asked::kNo);
  return real_pselect(count, in, out, except, timeout, filtered.get());
}

VARVE_HOOK int epoll_pwait(int fd, epoll_event* events, int count, int timeout, const sigset_t* set) {
  WaitMask filtered(set);
  Waiting waiting(ObjectKind::kPoll, unsigned(fd), Asked::kNo);
  return real_epoll_pwait(fd, events, count, timeout, filtered.get());
}

VARVE_HOOK int epoll_pwait2(int fd, epoll_event* events, int count, const timespec* timeout,
                            const sigset_t* set) {
  WaitMask filtered(set);
  Waiting waiting(ObjectKind::kPoll, unsigned(fd), Asked::kNo);
  return real_epoll_pwait2(fd, events, count, timeout, filtered.get());
}

VARVE_HOOK int sigaltstack(const stack_t* stack, stack_t* before) noexcept {
  int result = real_sigaltstack(stack, before);
  ThreadBlock* block = current_block;
  if (result || !block || !block->alternate_stack_installed) return result;
  if (before && before->ss_sp == block->alternate_stack) *before = {nullptr, SS_DISABLE, 0};
  if (stack && (stack->ss_flags & SS_DISABLE)) install_alternate_stack(*block);
  return result;
}

}  // namespace varve::agent
