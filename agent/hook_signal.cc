// SPDX-License-Identifier: MIT
// Signals as the program sees them: SIGPROF has the disposition the program gave it, not ours; masks and wait
// sets of the program leave SIGPROF out unless it handles SIGPROF itself; its handlers of faults run with
// ticks held back, because they often stand on small stacks; its alternate stacks are its own, and ours is
// not shown. Context: any thread of the target, its signal handlers included.
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>

#include <atomic>

#include "agent/hooks.h"
#include "agent/image.h"
#include "agent/real.h"
#include "agent/signal/agent_state.h"
#include "agent/signal_block.h"
#include "agent/thread_registry.h"

namespace varve::agent {
namespace {

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
Real<int(int, fd_set*, fd_set*, fd_set*, const timespec*, const sigset_t*)> real_pselect{"pselect"};
Real<int(int, epoll_event*, int, int, const sigset_t*)> real_epoll_pwait{"epoll_pwait"};
Real<int(const stack_t*, stack_t*)> real_sigaltstack{"sigaltstack"};

bool virtualises() { return agent_state.active.load(std::memory_order_relaxed); }
/// A program that handles SIGPROF itself also means what its masks say of it.
bool filters() { return virtualises() && !agent_state.program_sigprof.handled(); }

/// A set of the program without SIGPROF, or the set itself where it does not matter.
class FilteredSet {
 public:
  explicit FilteredSet(const sigset_t* given) : set_(given) {
    if (!given || !filters() || sigismember(given, SIGPROF) != 1) return;
    copy_ = *given;
    sigdelset(&copy_, SIGPROF);
    set_ = &copy_;
  }
  const sigset_t* get() const { return set_; }

 private:
  const sigset_t* set_;
  sigset_t copy_;
};

bool is_fault(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGTRAP;
}

/// A child of vfork sets dispositions of its own process; only this copy of them is shared with its parent.
bool owns_dispositions() { return in_recorded_process(); }

int program_sigaction(const struct sigaction* action, struct sigaction* before) {
  SignalBlock guard;
  struct sigaction old = agent_state.program_sigprof.get();
  if (action) agent_state.program_sigprof.set(*action);
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
  real_pselect.get(), real_epoll_pwait.get(), real_sigaltstack.get();
}

int real_sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  return sigaction_real(signal, action, before);
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
  FilteredSet filtered(how == SIG_UNBLOCK ? nullptr : set);
  return real_sigprocmask(how, how == SIG_UNBLOCK ? set : filtered.get(), before);
}

VARVE_HOOK int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  FilteredSet filtered(how == SIG_UNBLOCK ? nullptr : set);
  return real_pthread_sigmask(how, how == SIG_UNBLOCK ? set : filtered.get(), before);
}

VARVE_HOOK int sigwait(const sigset_t* set, int* number) {
  FilteredSet filtered(set);
  return real_sigwait(filtered.get(), number);
}

VARVE_HOOK int sigwaitinfo(const sigset_t* set, siginfo_t* info) {
  FilteredSet filtered(set);
  return real_sigwaitinfo(filtered.get(), info);
}

VARVE_HOOK int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  FilteredSet filtered(set);
  return real_sigtimedwait(filtered.get(), info, timeout);
}

VARVE_HOOK int sigsuspend(const sigset_t* set) {
  FilteredSet filtered(set);
  return real_sigsuspend(filtered.get());
}

VARVE_HOOK int signalfd(int fd, const sigset_t* set, int flags) noexcept {
  FilteredSet filtered(set);
  return real_signalfd(fd, filtered.get(), flags);
}

VARVE_HOOK int ppoll(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* set) {
  FilteredSet filtered(set);
  return real_ppoll(fds, count, timeout, filtered.get());
}

VARVE_HOOK int pselect(int count, fd_set* in, fd_set* out, fd_set* except, const timespec* timeout,
                       const sigset_t* set) {
  FilteredSet filtered(set);
  return real_pselect(count, in, out, except, timeout, filtered.get());
}

VARVE_HOOK int epoll_pwait(int fd, epoll_event* events, int count, int timeout, const sigset_t* set) {
  FilteredSet filtered(set);
  return real_epoll_pwait(fd, events, count, timeout, filtered.get());
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
