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

int program_sigaction(const struct sigaction* action, struct sigaction* before) {
  struct sigaction old = agent_state.program_sigprof.get();
  if (action) agent_state.program_sigprof.set(*action);
  if (before) *before = old;
  return 0;
}

int fault_sigaction(int signal, const struct sigaction& action, struct sigaction* before) {
  struct sigaction held = action;
  sigaddset(&held.sa_mask, SIGPROF);
  return sigaction_real(signal, static_cast<const struct sigaction*>(&held), before);
}

}  // namespace

void resolve_signal_hooks() {
  sigaction_real.get(), real_signal.get(), real_sigprocmask.get(), real_pthread_sigmask.get(),
      real_sigwait.get();
  real_sigwaitinfo.get(), real_sigtimedwait.get(), real_sigsuspend.get(), real_signalfd.get(),
      real_ppoll.get();
  real_pselect.get(), real_epoll_pwait.get(), real_sigaltstack.get();
}

int real_sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  return sigaction_real(signal, action, before);
}

VARVE_HOOK int sigaction(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  if (signal == SIGPROF && virtualises()) return program_sigaction(action, before);
  if (action && is_fault(signal) && virtualises()) return fault_sigaction(signal, *action, before);
  return sigaction_real(signal, action, before);
}

VARVE_HOOK Handler signal(int number, Handler handler) noexcept {
  if (number != SIGPROF || !virtualises()) return real_signal(number, handler);
  struct sigaction action = {}, before = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaddset(&action.sa_mask, number);
  program_sigaction(&action, &before);
  return before.sa_handler;
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
