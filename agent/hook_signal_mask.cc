// SPDX-License-Identifier: MIT
// Masks of signals as the program sees them, and waits for signals. Masks leave SIGPROF out unless the
// program handles it itself (hook_signal), but show it as blocked, and one from elsewhere stays pending until
// it is unblocked or waited for. Not kept up: the mask that siglongjmp and swapcontext restore, and a SIGPROF
// from elsewhere that is read by signalfd: it stays pending. Context: any thread of the target, its signal
// handlers included.
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>

#include <cerrno>

#include "agent/descriptor_wait.h"
#include "agent/hooks.h"
#include "agent/image.h"
#include "agent/program_memory.h"
#include "agent/real.h"
#include "agent/signal/agent_state.h"
#include "agent/signal/clock.h"
#include "agent/signal_block.h"

namespace varve::agent {
namespace {

using format::ObjectKind;
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

/// A program that handles SIGPROF itself also means what its masks say of it.
bool filters() { return agent_state.recorded() && !agent_state.program_sigprof.handled(); }

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
        block_(agent_state.recorded() ? current_block : nullptr) {
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
  ThreadBlock* block = agent_state.recorded() ? current_block : nullptr;
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

bool waits_for_sigprof(const sigset_t* set) {
  return agent_state.recorded() && current_block && named_in(set) == 1;
}

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

}  // namespace

void resolve_mask_hooks() {
  real_sigprocmask.get(), real_pthread_sigmask.get(), real_sigwait.get(), real_sigwaitinfo.get();
  real_sigtimedwait.get(), real_sigsuspend.get(), real_signalfd.get(), real_ppoll.get();
  real_ppoll_chk.get(), real_pselect.get(), real_epoll_pwait.get(), real_epoll_pwait2.get();
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

}  // namespace varve::agent
