// SPDX-License-Identifier: MIT
// See wait_trace.h.
// Context: any thread of the target, its signal handlers included.
#include "agent/wait_trace.h"

#include <sys/mman.h>
#include <threads.h>

#include <cerrno>

#include "agent/signal/agent_state.h"
#include "agent/signal/alternate_stack.h"
#include "agent/signal/clock.h"
#include "agent/signal/tick_source.h"
#include "agent/signal_block.h"
#include "agent/wait_records.h"

namespace varve::agent {

constinit WaitTrace wait_trace;

namespace {

using format::ObjectKind;

uint64_t now_of(ThreadBlock& block) { return block.clock.now_ns(wait_trace.tick_length); }

WaitRecord record_of(const WaitSum& sum) {
  return {format::RecordKind::kWaitEvent, sum.kind, sum.object, sum.last_ns, sum.duration_ns, sum.count};
}

void write_sum(ThreadBlock& block, const WaitSum& sum) {
  if (sum.kind != ObjectKind::kNone) write_wait_record(block, record_of(sum), Detail::kNone);
}

/// What its thread left unsaid when it let this one go on, because nobody had waited long.
void write_noted_release(const OpenWait& wait, uint64_t now) {
  const ReleaseNote note = wait_trace.release_notes.find(wait.kind, wait.object);
  const bool before = note.time_ns + format::kWaitClockNs < wait.begin_ns;
  if (before || note.time_ns > now || !release_allowance.take(now)) return;
  const bool is_call = wait.kind == ObjectKind::kBarrier;  // its releases have how long the call took
  const uint64_t waited = is_call || note.time_ns < wait.begin_ns ? 0 : note.time_ns - wait.begin_ns;
  write_for_other(note.thread,
                  {format::RecordKind::kRelease, wait.kind, wait.object, note.time_ns, waited, 1},
                  monotonic_ns());
}

void write_wait(ThreadBlock& block, const OpenWait& wait, bool timed_out, uint64_t now, Detail detail) {
  SignalBlock guard;
  const bool written = write_wait_record(
      block, {format::RecordKind::kWaitEvent, wait.kind, wait.object, now, now - wait.begin_ns, 1, timed_out},
      detail);
  if (written && !timed_out && format::is_released(wait.kind)) write_noted_release(wait, now);
}

/// Who ends the last slice of a wait ends all of it, so that is a record however short it is, and so is its
/// release.
bool is_slice_after(const WaitSlice& before, const OpenWait& wait) {
  return before.kind == wait.kind && before.object == wait.object &&
         format::goes_on(before.end_ns, wait.begin_ns);
}
uint64_t first_begin(const WaitSlice& before, const OpenWait& wait) {
  return is_slice_after(before, wait) ? before.first_ns : wait.begin_ns;
}

/// Waits for other objects may come in between.
void keep_slice(ThreadBlock& block, const OpenWait& wait, bool may_go_on, uint64_t now) {
  if (may_go_on && format::may_be_slice(wait.kind, now - wait.begin_ns))
    block.slice = {wait.kind, wait.object, first_begin(block.slice, wait), now};
  else if (wait.kind == block.slice.kind && wait.object == block.slice.object)
    block.slice = {};
}

[[gnu::noinline]] void keep_wait(ThreadBlock& block, const OpenWait& wait, bool timed_out, uint64_t now,
                                 Detail detail) {
  const uint64_t duration = now > wait.begin_ns ? now - wait.begin_ns : 0;
  const bool is_long = duration >= agent_state.wait_min_ns;
  const bool ends_slices = !timed_out && is_slice_after(block.slice, wait);
  if (block.in_wait_trace) return count(format::Counter::kWaitsLost);
  InTrace tracing(block);
  keep_slice(block, wait, timed_out && is_long, now);
  if ((is_long || ends_slices) && wait_allowance.take(now))
    return write_wait(block, wait, timed_out, now, detail);
  const WaitSum full = block.short_waits.add(wait.kind, wait.object, now, duration);
  if (full.kind == ObjectKind::kNone) return;
  SignalBlock guard;
  write_sum(block, full);
}

/// Most calls that may wait come back at once: for these there is no more than this.
inline void end_wait(ThreadBlock& block, const OpenWait& wait, Asked asked, bool timed_out, uint64_t now,
                     Detail detail = Detail::kNameAndStack) {
  if (asked == Asked::kYes || now >= wait.begin_ns + agent_state.wait_min_ns ||
      (!timed_out && is_slice_after(block.slice, wait)))
    keep_wait(block, wait, timed_out, now, detail);
}

void leave(const OpenWait& wait) {
  if (format::is_released(wait.kind)) wait_trace.waiters.leave(wait.object);
}

/// A handler of the program's may leave between any two of the stores: what has no scope is no wait. One by
/// one, as the wait was written just before: the processor would have to wait to read all of it at once.
void set_open(ThreadBlock& block, const OpenWait& wait, void* scope) {
  block.open_scope = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  block.open_wait.kind = wait.kind;
  block.open_wait.object = wait.object;
  block.open_wait.begin_ns = wait.begin_ns;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  block.open_scope = scope;
}

void close(ThreadBlock& block) { set_open(block, {}, nullptr); }

/// A wait that the thread is in no more although its scope never ended: unless it was cancelled, nobody knows
/// when that was.
void end_left_wait(ThreadBlock& block, const OpenWait& wait, uint64_t otherwise_ns) {
  const uint64_t cancelled = block.cancelled_ns.load(std::memory_order_relaxed);
  const uint64_t end = cancelled == 0 ? otherwise_ns : cancelled;
  if (end == 0) return count(format::Counter::kWaitsLost);
  if (end > wait.begin_ns) end_wait(block, wait, Asked::kYes, false, end, Detail::kName);
}

/// A scope that was left lay here or above.
void forget_left_scope(ThreadBlock& block, const void* here) {
  if (!block.open_scope || here < block.open_scope) return;
  if (!on_own_stack(block, here) || !on_own_stack(block, block.open_scope)) return;
  const OpenWait left = block.open_wait;
  leave(left);
  close(block);
  end_left_wait(block, left, 0);
}

}  // namespace

void WaitTrace::wipe_on_fork() {
  madvise(&waiters, sizeof waiters, MADV_WIPEONFORK);
  madvise(&unknown_lives, sizeof unknown_lives, MADV_WIPEONFORK);
  madvise(&release_notes, sizeof release_notes, MADV_WIPEONFORK);
}

void start_wait_trace() {
  if (agent_state.wait_min_ns == 0) return;
  wait_trace.wipe_on_fork();
  wait_trace.on.store(true, std::memory_order_relaxed);
}

void stop_wait_trace() { wait_trace.on.store(false, std::memory_order_relaxed); }

bool is_time_out(long result) {
  // No function of POSIX threads returns EINTR.
  static_assert(int(thrd_timedout) == EINTR);
  return result == ETIMEDOUT || result == thrd_timedout || (result == -1 && errno == ETIMEDOUT);
}

Waiting::Waiting(ObjectKind kind, uint64_t object, Asked asked)
    : block_(traces_waits() ? current_block : nullptr), long_object_(object), asked_(asked) {
  if (block_ && (!block_->live || !has_room(*block_, this))) block_ = nullptr;
  if (!block_) return;
  forget_left_scope(*block_, this);
  outer_ = block_->open_wait;
  outer_scope_ = block_->open_scope;
  wait_ = {kind, object, now_of(*block_)};
  set_open(*block_, wait_, this);
  if (!format::is_released(kind)) return;
  wait_trace.waiters.enter(object, first_begin(block_->slice, wait_));
  if (!had_waiters()) wait_trace.had_waiters.store(true, std::memory_order_relaxed);
}

void Waiting::is_with(uint64_t mutex) {
  if (!block_) return;
  mutex_ = mutex;
  wait_trace.waiters.wait_with(wait_.object, mutex);
}

/// Somebody had the mutex for a while after the signal.
void Waiting::end_for_mutex(ThreadBlock& block, uint64_t now) const {
  const uint64_t signalled = wait_trace.waiters.since_ns(Waiters::return_to(mutex_));
  const uint64_t unlocked = wait_trace.waiters.unlocked_ns(mutex_);
  wait_trace.waiters.be_back(wait_.object, mutex_);
  if (signalled > wait_.begin_ns && unlocked >= signalled + agent_state.wait_min_ns && unlocked <= now)
    end_wait(block, {ObjectKind::kMutex, mutex_, signalled}, Asked::kYes, false, now);
}

uint64_t Waiting::end() {
  if (!block_) return 0;
  leave(wait_);
  if (block_->open_scope == this) set_open(*block_, outer_, outer_scope_);
  ThreadBlock& block = *block_;
  block_ = nullptr;
  const uint64_t now = now_of(block);
  if (mutex_ != 0) end_for_mutex(block, now);
  if (now >= wait_.begin_ns + agent_state.wait_min_ns) wait_.object = long_object_;
  if (!was_none_) end_wait(block, wait_, asked_, timed_out_, now);
  if (is_time_for_event(block, now)) look_for_event(block, now);
  return now > wait_.begin_ns ? now - wait_.begin_ns : 0;
}

bool Waiting::is_open_in(const ThreadBlock& block) const {
  return block_ == &block && wait_.kind == block.open_wait.kind && wait_.object == block.open_wait.object &&
         wait_.begin_ns == block.open_wait.begin_ns;
}

void end_waits_below(ThreadBlock& block, uint64_t stack_pointer) {
  if (!block.stack.contains(stack_pointer)) return;
  // A handler that waited on another stack is left with it.
  const auto is_left = [&](uint64_t scope) {
    return block.stack.contains(scope) ? scope < stack_pointer : alternate_stack_here().contains(scope);
  };
  if (block.in_wait_trace && is_left(object_of(block.in_wait_trace))) block.in_wait_trace = nullptr;
  while (block.open_scope && is_left(object_of(block.open_scope))) {
    auto& scope = *static_cast<Waiting*>(block.open_scope);
    if (!scope.is_open_in(block)) return;  // left before, in another way
    if (!has_room(block, __builtin_frame_address(0))) {
      count(format::Counter::kWaitsLost);
      scope.was_none();
    }
    scope.end();
  }
}

void end_waits(ThreadBlock& block) {
  if (!traces_waits()) return;
  const OpenWait left = block.open_wait;
  const bool waits = block.open_scope && left.kind != ObjectKind::kNone;
  close(block);
  if (waits) {
    leave(left);
    end_left_wait(block, left, monotonic_ns());
  }
  for (uint32_t i = 0; i < ShortWaits::kSums; ++i) write_sum(block, block.short_waits.take(i));
}

void end_waits_of_other(const ThreadBlock& other) {
  if (!traces_waits() || !current_block || !records_waits()) return;
  const uint64_t now = monotonic_ns();
  const auto write = [&](const WaitRecord& record) {
    if (record.kind == ObjectKind::kNone || record.kind >= ObjectKind::kCount || record.time_ns > now) return;
    write_for_other(other.record->index, record, now);
  };
  // It may go on meanwhile: what is copied is a wait of it all the same.
  void* const volatile& scope = other.open_scope;
  const void* const before = scope;
  const OpenWait wait = other.open_wait;
  const bool is_whole = before && scope == before;
  ShortWaits sums = other.short_waits;
  if (is_whole && wait.begin_ns < now)
    write({format::RecordKind::kWaitEvent, wait.kind, wait.object, now, now - wait.begin_ns, 1});
  for (uint32_t i = 0; i < ShortWaits::kSums; ++i) write(record_of(sums.take(i)));
}

}  // namespace varve::agent
