// SPDX-License-Identifier: MIT
// Masks of signals as the program sees them, and waits for signals. Masks leave the signals that ticks come
// by out (SIGPROF, and SIGTRAP where ticks come from events) unless the program handles the signal itself
// (hook_signal), but show it as blocked, and one from elsewhere stays pending until it is unblocked or waited
// for. Not kept up: the mask that siglongjmp and swapcontext restore, and such a signal from elsewhere that
// is read by signalfd: it stays pending. Context: any thread of the target, its signal handlers included.
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>

#include <cerrno>

#include "agent/descriptor_wait.h"
#include "agent/epoll_members.h"
#include "agent/hooks.h"
#include "agent/image.h"
#include "agent/program_memory.h"
#include "agent/real.h"
#include "agent/signal/agent_state.h"
#include "agent/signal/alternate_stack.h"
#include "agent/signal/clock.h"
#include "agent/signal/handler_stack.h"
#include "agent/signal/tick_source.h"
#include "agent/signal_block.h"

namespace varve::agent {
namespace {

using format::ObjectKind;
Real<int(int, const sigset_t*, sigset_t*)> real_sigprocmask{"sigprocmask"};
Real<int(int, const sigset_t*, sigset_t*)> real_pthread_sigmask{"pthread_sigmask"};
Real<int(const sigset_t*, int*)> real_sigwait{"sigwait"};
Real<int(const sigset_t*, siginfo_t*)> real_sigwaitinfo{"sigwaitinfo"};
Real<int(const sigset_t*, siginfo_t*, const timespec*)> real_sigtimedwait{"sigtimedwait"};
Real<int(sigset_t*)> real_sigpending{"sigpending"};
Real<int(const sigset_t*)> real_sigsuspend{"sigsuspend"};
Real<int(int, const sigset_t*, int)> real_signalfd{"signalfd"};
Real<int(pollfd*, nfds_t, const timespec*, const sigset_t*)> real_ppoll{"ppoll"};
Real<int(pollfd*, nfds_t, const timespec*, const sigset_t*, size_t)> real_ppoll_chk{"__ppoll_chk"};
Real<int(int, fd_set*, fd_set*, fd_set*, const timespec*, const sigset_t*)> real_pselect{"pselect"};
Real<int(int, epoll_event*, int, int, const sigset_t*)> real_epoll_pwait{"epoll_pwait"};
Real<int(int, epoll_event*, int, const timespec*, const sigset_t*)> real_epoll_pwait2{"epoll_pwait2"};

/// Signals of ticks that stay out of masks. A program that handles one itself also means what its masks say
/// of it; so does a child by _Fork() or a raw clone, which has our state, and no ticks.
uint64_t kept_out() {
  return in_recorded_process() ? agent_state.tick_signals & ~agent_state.handled_signals() : 0;
}

/// Signals of ticks in a set, whose rest may be in no memory.
uint64_t ticks_in(const sigset_t* set) { return set ? set->__val[0] & agent_state.tick_signals : 0; }

/// Whether a set that the C library hands to the kernel unseen is in memory.
bool is_set(const sigset_t* set) { return set && can_read(set, kKernelSetBytes); }

/// A set of the program without `bits`, and with `more`, or the set itself where it is that.
class FilteredSet {
 public:
  FilteredSet(const sigset_t* given, uint64_t bits, uint64_t more = 0) : set_(given) {
    if (!bits && !more) return;
    if (!(given->__val[0] & bits) && (given->__val[0] & more) == more) return;
    copy_.__val[0] =
        (given->__val[0] & ~bits) | more;  // the kernel's set: the C library's may end beyond memory
    set_ = &copy_;
  }
  const sigset_t* get() const { return set_; }

 private:
  const sigset_t* set_;
  sigset_t copy_{};
};

void let_pending_in(uint64_t signals) {
  SignalBlock guard;
  release_pending_signals(signals);
}

/// The mask of a wait by system call `number`, for its time.
class WaitMask {
 public:
  WaitMask(long number, const sigset_t* given)
      : known_(is_set(given)),
        block_(known_ && agent_state.recorded() ? current_block : nullptr),
        filtered_(given, known_ ? kept_out() : 0, block_ ? block_->held.here() : 0) {
    if (!block_) return;
    blocked_before_ = block_->program_blocks;
    outer_ = block_->masked_wait;
    block_->program_blocks = ticks_in(given);
    block_->masked_wait = {number, reinterpret_cast<uint64_t>(get()), get()->__val[0]};
    let_pending_in(agent_state.tick_signals & ~block_->program_blocks);
  }
  ~WaitMask() {
    if (!block_) return;
    block_->masked_wait = outer_;
    block_->program_blocks = blocked_before_;
  }
  WaitMask(const WaitMask&) = delete;
  WaitMask& operator=(const WaitMask&) = delete;
  const sigset_t* get() const { return filtered_.get(); }

 private:
  bool known_;
  ThreadBlock* block_;
  FilteredSet filtered_;
  uint64_t blocked_before_ = 0;
  MaskedWait outer_;
};

uint64_t blocked_after(int how, const sigset_t* set, uint64_t before) {
  if (!set) return before;
  const uint64_t named = ticks_in(set);
  return how == SIG_SETMASK ? named : how == SIG_UNBLOCK ? before & ~named : before | named;
}

using MaskChange = int(int, const sigset_t*, sigset_t*);

/// While a handler runs in whose sa_mask such a signal stands the kernel blocks it, without a word of the
/// thread's. What such a handler blocks ends with it: these of what it names.
uint64_t blocked_for_a_handler(const ThreadBlock& block, int how, const sigset_t* set) {
  if (!set || how == SIG_UNBLOCK) return 0;
  const uint64_t named = ticks_in(set) & kept_out() & ~block.program_blocks;
  return named ? named & change_mask(SIG_BLOCK, 0) : 0;
}

/// What handlers of these signals hold by our doing.
uint64_t held_with(uint64_t signals) {
  uint64_t held = 0;
  for (; signals; signals &= signals - 1) held |= entered_handler(__builtin_ctzll(signals) + 1).held;
  return held;
}

/// A handler on an alternate stack that lets its own signal in means to leave by a jump that restores no
/// mask: the signals of ticks that stand in its mask by our doing go with it. Where a tick has no room there
/// only a SIGTRAP that the program handles does: the next breakpoint may come before the next change of a
/// mask.
void let_held_in(uint64_t held, const ThreadBlock& block) {
  held &= ~block.program_blocks;
  if (!held || !in_recorded_process()) return;
  const StackBounds stack = alternate_stack_here();
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  if (stack.contains(here) && !holds_tick(here - stack.low)) held &= agent_state.handled_trap();
  if (held) change_mask(SIG_UNBLOCK, held);
}

/// A signal is noted as let in before it is, and as blocked after it is: what comes in between is delivered.
int change_program_mask(Real<MaskChange>& real, int how, const sigset_t* set, sigset_t* before) {
  ThreadBlock* block = agent_state.recorded() ? current_block : nullptr;
  if (!block) return real(how, set, before);
  let_left_in(*block);
  const uint64_t held = blocked_for_a_handler(*block, how, set), held_here = block->held.here();
  FilteredSet filtered(set,
                       !set                 ? 0
                       : how == SIG_UNBLOCK ? held_here
                                            : kept_out() & ~held,
                       set && how == SIG_SETMASK ? held_here : 0);
  const uint64_t was = block->program_blocks, will = blocked_after(how, set, was) & ~held;
  const uint64_t let_in = was & ~will;
  // Of whose signals one is let in, was blocked, and so may be in its handler: others do not leave one.
  const bool may_leave = set && how == SIG_UNBLOCK && held_with(set->__val[0]);
  const uint64_t left = may_leave ? set->__val[0] & change_mask(SIG_BLOCK, 0) : 0;
  const bool changes =
      was != will && in_recorded_process();  // a vfork's child has a mask, but no block of its own
  if (changes) block->program_blocks = was & will;
  int result = real(how, filtered.get(), before);
  if (changes) block->program_blocks = result ? was : will;
  if (!result && before) before->__val[0] = (before->__val[0] & ~held_here) | was;
  if (!result && changes && let_in) let_pending_in(let_in);
  if (!result && left) let_held_in(held_with(left), *block);
  return result;
}

bool waits_for_ticks(const sigset_t* set) {
  return agent_state.recorded() && current_block && is_set(set) && ticks_in(set);
}

/// False: the kernel answers EFAULT or EINVAL.
bool is_limit(const timespec* time) {
  return !time || (can_read(time, sizeof *time) && time->tv_sec >= 0 && time->tv_nsec >= 0 &&
                   time->tv_nsec < 1'000'000'000);
}

/// A signal of these that was kept, or one that is pending too and comes before it: the kernel hands them out
/// by number. 0: there is none.
int take_kept(const sigset_t& set, siginfo_t& got) {
  for (ProgramSignal& each : agent_state.program_signals) {
    if (!(ticks_in(&set) & each.bit()) || !each.has_pending()) continue;
    sigset_t before{};
    before.__val[0] = set.__val[0] & (each.bit() - 1);
    const timespec now{};
    const int saved_errno = errno, result = before.__val[0] ? real_sigtimedwait(&before, &got, &now) : 0;
    if (result > 0) return result;
    errno = saved_errno;
    if (!each.take_pending(got)) continue;
    if (got.si_code == SI_TKILL) got.si_code = SI_USER;  // as the C library's functions show it
    return each.number();
  }
  return 0;
}

/// The calling thread waits for those of the signals of ticks that are in a set.
class TickSignalWait {
 public:
  explicit TickSignalWait(const sigset_t& set) : waited_for_(ticks_in(&set)) {
    mask_ = change_mask(SIG_BLOCK, waited_for_);  // what comes from now on is the kernel's to keep
    for (ProgramSignal& each : agent_state.program_signals)
      if (waited_for_ & each.bit()) each.begin_wait();
  }
  ~TickSignalWait() {
    for (ProgramSignal& each : agent_state.program_signals)
      if (waited_for_ & each.bit()) each.end_wait();
    change_mask(SIG_SETMASK, mask_);
  }
  TickSignalWait(const TickSignalWait&) = delete;
  TickSignalWait& operator=(const TickSignalWait&) = delete;

 private:
  uint64_t waited_for_, mask_;
};

/// sigtimedwait() with a signal of ticks in its set: ticks are not what the program waits for. They cost it
/// no time: the next one has it all.
int wait_past_ticks(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  constexpr time_t kForEver = 1'000'000'000;  // seconds; more have no place in 64 bits of ns
  const bool ends = timeout && timeout->tv_sec < kForEver;
  const uint64_t end = ends ? monotonic_ns() + to_nanos(*timeout) : 0;
  timespec left = timeout ? *timeout : timespec{};
  siginfo_t got = {};
  int result;
  {
    TickSignalWait wait(*set);
    result = take_kept(*set, got);
    while (!result) {
      result = real_sigtimedwait(set, &got, timeout ? static_cast<const timespec*>(&left) : nullptr);
      if (result <= 0 || !is_tick(got, current_block)) break;
      result = 0;
      const uint64_t now = monotonic_ns(), rest = end > now ? end - now : 0;
      if (ends) left = to_timespec(rest);
    }
  }
  if (!info || result <= 0) return result;
  if (!can_write_over(info, sizeof *info)) return errno = EFAULT, -1;
  *info = got;
  return result;
}

}  // namespace

void resolve_mask_hooks() {
  real_sigprocmask.get(), real_pthread_sigmask.get(), real_sigwait.get(), real_sigwaitinfo.get();
  real_sigtimedwait.get(), real_sigpending.get(), real_sigsuspend.get(), real_signalfd.get();
  real_ppoll.get(), real_ppoll_chk.get(), real_pselect.get(), real_epoll_pwait.get(), real_epoll_pwait2.get();
}

VARVE_HOOK int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return change_program_mask(real_sigprocmask, how, set, before);
}

VARVE_HOOK int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return change_program_mask(real_pthread_sigmask, how, set, before);
}

VARVE_HOOK int sigwait(const sigset_t* set, int* number) {
  Waiting waiting(ObjectKind::kSignal, 0, Asked::kNo);
  if (!waits_for_ticks(set)) return real_sigwait(set, number);
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
  return waits_for_ticks(set) ? wait_past_ticks(set, info, nullptr) : real_sigwaitinfo(set, info);
}

VARVE_HOOK int sigtimedwait(const sigset_t* set, siginfo_t* info, const timespec* timeout) {
  Waiting waiting(ObjectKind::kSignal, 0, Asked::kNo);
  return waits_for_ticks(set) && is_limit(timeout) ? wait_past_ticks(set, info, timeout)
                                                   : real_sigtimedwait(set, info, timeout);
}

/// Those that were kept for the program, too.
VARVE_HOOK int sigpending(sigset_t* set) noexcept {
  const int result = real_sigpending(set);
  if (result || !in_recorded_process() || !current_block) return result;
  for (const ProgramSignal& each : agent_state.program_signals)
    if (each.has_pending()) set->__val[0] |= each.bit() & current_block->program_blocks;
  return result;
}

VARVE_HOOK int sigsuspend(const sigset_t* set) {
  WaitMask filtered(__NR_rt_sigsuspend, set);
  Waiting waiting(ObjectKind::kSignal, 0, Asked::kNo);
  return real_sigsuspend(filtered.get());
}

VARVE_HOOK int signalfd(int fd, const sigset_t* set, int flags) noexcept {
  FilteredSet filtered(set, is_set(set) ? kept_out() : 0);
  return real_signalfd(fd, filtered.get(), flags);
}

VARVE_HOOK int ppoll(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* set) {
  WaitMask filtered(__NR_ppoll, set);
  return polled(fds, count, [&] { return real_ppoll(fds, count, timeout, filtered.get()); });
}
VARVE_HOOK int __ppoll_chk(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* set,
                           size_t room) {
  WaitMask filtered(__NR_ppoll, set);
  return polled(fds, count, [&] { return real_ppoll_chk(fds, count, timeout, filtered.get(), room); });
}

VARVE_HOOK int pselect(int count, fd_set* in, fd_set* out, fd_set* except, const timespec* timeout,
                       const sigset_t* set) {
  WaitMask filtered(__NR_pselect6, set);
  Waiting waiting(polls(count != 0), Asked::kNo);
  return waiting.found_ready(real_pselect(count, in, out, except, timeout, filtered.get()));
}

VARVE_HOOK int epoll_pwait(int fd, epoll_event* events, int count, int timeout, const sigset_t* set) {
  WaitMask filtered(__NR_epoll_pwait, set);
  return waited_by_epoll(fd, events,
                         [&] { return real_epoll_pwait(fd, events, count, timeout, filtered.get()); });
}

VARVE_HOOK int epoll_pwait2(int fd, epoll_event* events, int count, const timespec* timeout,
                            const sigset_t* set) {
  WaitMask filtered(__NR_epoll_pwait2, set);
  return waited_by_epoll(fd, events,
                         [&] { return real_epoll_pwait2(fd, events, count, timeout, filtered.get()); });
}

}  // namespace varve::agent
