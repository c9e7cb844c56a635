// SPDX-License-Identifier: MIT
// See wait_trace.h.
// Context: any thread of the target, its signal handlers included. All signals are blocked while a record is
// written: the segment is the tick handler's, too.
#include "agent/wait_trace.h"

#include <signal.h>
#include <sys/mman.h>
#include <threads.h>

#include <cerrno>

#include "agent/descriptor_names.h"
#include "agent/image.h"
#include "agent/signal/agent_state.h"
#include "agent/signal/clock.h"
#include "agent/signal/tick_source.h"
#include "agent/signal_block.h"

namespace varve::agent {

constinit WaitTrace wait_trace;

namespace {

using format::ObjectKind;

/// A process may write so many waits and releases: four a millisecond, four thousand at once. One takes 1 to
/// 4 us, most of it for its stack, so that is about 1 % of a processor. Waits beyond are counted like short
/// ones.
constinit Allowance events{250'000, 1'000'000'000};

/// A thousand each a second, and four thousand at once: a Java machine begins with a thousand. Who makes
/// objects all the time makes them at one place.
constinit Allowance creations{1'000'000, 4'000'000'000}, destructions{1'000'000, 4'000'000'000};

/// The registers that a callee saves, and where we are: all that unwinding from here can need.
inline __attribute__((always_inline)) Registers registers_here() {
  Registers registers;
  asm volatile(
      "mov %%rbx, 24(%0)\n\tmov %%rbp, 48(%0)\n\tmov %%rsp, 56(%0)\n\t"
      "mov %%r12, 96(%0)\n\tmov %%r13, 104(%0)\n\tmov %%r14, 112(%0)\n\tmov %%r15, 120(%0)\n\t"
      "lea 0f(%%rip), %%rax\n\tmov %%rax, 128(%0)\n0:"
      :
      : "r"(registers.value)
      : "rax", "memory");
  registers.known = 1u << 3 | 1u << 6 | 1u << 7 | 0xfu << 12 | 1u << 16;
  return registers;
}

constexpr auto kNoStack = uint8_t(format::StackEnd::kNotTaken);

/// Into the writer's scratch(): the stack of the hook's caller. Returns its depth and what to say of its end.
struct TakenStack {
  uint32_t depth = 0;
  uint8_t flags = kNoStack;
};
TakenStack take_stack(ThreadBlock& block) {
  FrameList frames(block.writer.scratch(), agent_state.stack_depth, agent_state.own_code);
  const UnwindResult stack = unwind(registers_here(), block.stack, agent_state.rules, frames,
                                    agent_state.walk_limit, agent_state.java.load(std::memory_order_acquire));
  count(format::Counter::kRuleCacheHits, stack.cache_hits);
  count(format::Counter::kRuleCacheMisses, stack.cache_misses);
  return {stack.depth,
          uint8_t(uint8_t(stack.end) | (stack.used_frame_pointer ? format::kSampleFramePointer : 0))};
}

/// A wait or a release that was over at `time_ns`.
struct Event {
  format::RecordKind record;
  ObjectKind kind;
  uint64_t object;
  uint64_t time_ns, duration_ns;
  uint64_t count;
  bool timed_out = false;
};

RecordFields fields_of(const Event& event, uint8_t flags, uint64_t now_ns) {
  RecordFields fields;
  fields.kind = event.record;
  fields.flags = flags | (event.timed_out ? format::kWaitTimedOut : 0);
  for (const uint64_t number :
       {now_ns - event.time_ns, uint64_t(event.kind), event.object, event.duration_ns, event.count})
    fields.numbers[fields.count++] = number;
  return fields;
}

uint64_t now_of(ThreadBlock& block) { return block.clock.now_ns(wait_trace.tick_length); }

bool can_write() { return in_recorded_process() && agent_state.takes_samples(agent_state.state()); }

/// When the thread began what ended then: the descriptor was this one already.
uint64_t begin_of(const Event& event) {
  return event.time_ns - (event.record == format::RecordKind::kWaitEvent ? event.duration_ns : 0);
}

bool is_for_unknown(const Event& event) {
  return event.record == format::RecordKind::kWaitEvent && format::is_in_memory(event.kind) &&
         wait_trace.unknown_lives.has(event.object);
}

/// When the last of its waits began, as the loader reckons it. What another thread counts may be half
/// written.
uint64_t last_begin_of(const Event& wait) {
  return wait.time_ns - wait.duration_ns / (wait.count ? wait.count : 1);
}

/// To the loader: what was made there was destroyed before this wait began.
Event end_of_life(const Event& wait) {
  return {format::RecordKind::kCreation, wait.kind, wait.object, last_begin_of(wait), 0, 0};
}

/// What a record says of the place, beside its numbers. A thread that was cancelled in its wait stands
/// somewhere else by now, in a handler or a destructor; the observer may have seen its stack meanwhile.
enum class Detail : uint8_t { kNone, kName, kNameAndStack };

/// With all signals blocked. False: there is no record.
bool write_event(ThreadBlock& block, const Event& event, Detail detail) {
  if (!can_write()) return false;
  const uint64_t now = monotonic_ns();
  const bool told =
      !is_for_unknown(event) || write_record(block, now, fields_of(end_of_life(event), kNoStack, now), 0);
  // Of a release too: who waits at the other end is found by the name.
  if (format::is_descriptor(event.kind) && detail != Detail::kNone)
    note_descriptor(int(event.object), begin_of(event));
  TakenStack stack;
  if (detail == Detail::kNameAndStack) stack = take_stack(block);
  const bool written = told && write_record(block, now, fields_of(event, stack.flags, now), stack.depth);
  if (!written) count(format::Counter::kWaitsLost);
  return written;
}

Event event_of(const WaitSum& sum) {
  return {format::RecordKind::kWaitEvent, sum.kind, sum.object, sum.last_ns, sum.duration_ns, sum.count};
}

void write_sum(ThreadBlock& block, const WaitSum& sum) {
  if (sum.kind != ObjectKind::kNone) write_event(block, event_of(sum), Detail::kNone);
}

/// The tick handler and the program's own handlers find the thread in here, and leave its counts alone.
class InTrace {
 public:
  explicit InTrace(ThreadBlock& block) : block_(block) { block_.in_wait_trace = this; }
  ~InTrace() { block_.in_wait_trace = nullptr; }
  InTrace(const InTrace&) = delete;
  InTrace& operator=(const InTrace&) = delete;

 private:
  ThreadBlock& block_;
};

void end_wait(ThreadBlock& block, const OpenWait& wait, Asked asked, bool timed_out, uint64_t now,
              Detail detail = Detail::kNameAndStack) {
  const uint64_t duration = now > wait.begin_ns ? now - wait.begin_ns : 0;
  if (duration < agent_state.wait_min_ns && asked == Asked::kNo) return;
  if (block.in_wait_trace) return count(format::Counter::kWaitsLost);
  InTrace tracing(block);
  if (duration >= agent_state.wait_min_ns && events.take(now)) {
    SignalBlock guard;
    write_event(block, {format::RecordKind::kWaitEvent, wait.kind, wait.object, now, duration, 1, timed_out},
                detail);
    return;
  }
  const WaitSum full = block.short_waits.add(wait.kind, wait.object, now, duration);
  if (full.kind == ObjectKind::kNone) return;
  SignalBlock guard;
  write_sum(block, full);
}

/// By a thread that has a block. False: there is no record.
bool write_now(const Event& event, Detail detail = Detail::kNameAndStack) {
  ThreadBlock& block = *current_block;
  if (block.in_wait_trace) return count(format::Counter::kWaitsLost), false;
  InTrace tracing(block);
  SignalBlock guard;
  return write_event(block, event, detail);
}

void leave(const OpenWait& wait) {
  if (format::is_released(wait.kind)) wait_trace.waiters.leave(wait.object);
}

/// A handler of the program's may leave between any two of the stores: what has no scope is no wait.
void set_open(ThreadBlock& block, const OpenWait& wait, void* scope) {
  block.open_scope = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  block.open_wait = wait;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  block.open_scope = scope;
}

void close(ThreadBlock& block) { set_open(block, {}, nullptr); }

bool on_own_stack(const ThreadBlock& block, const void* place) {
  return block.stack.contains(reinterpret_cast<uint64_t>(place));
}

/// To write a wait takes 2.5 KB of stack, with all that it calls. Of a stack that is not the thread's own
/// nobody knows how much there is.
bool has_room(const ThreadBlock& block, const void* here) {
  constexpr uint64_t kRoom = 8192;
  return !on_own_stack(block, here) || reinterpret_cast<uint64_t>(here) - block.stack.low >= kRoom;
}

/// The alternate stack that the calling thread stands on; of no size where it stands on none.
StackBounds alternate_stack_here() {
  stack_t current{};
  raw_syscall(__NR_sigaltstack, 0, as_arg(&current));
  const auto low = object_of(current.ss_sp);
  return current.ss_flags & SS_ONSTACK ? StackBounds{low, low + current.ss_size} : StackBounds{};
}

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
  wait_trace.waiters.enter(object, wait_.begin_ns);
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
  if (awaits_event(block)) look_for_event(block, now);
  return now > wait_.begin_ns ? now - wait_.begin_ns : 0;
}

bool Waiting::is_open_in(const ThreadBlock& block) const {
  return block_ == &block && wait_.kind == block.open_wait.kind && wait_.object == block.open_wait.object &&
         wait_.begin_ns == block.open_wait.begin_ns;
}

void Releasing::look() {
  // The calling thread has the lock still: no more than a look where there are too many anyway.
  if (!events.has_any(recent_ns())) return;
  const uint64_t now = monotonic_ns(), since = wait_trace.waiters.since_ns(place_);
  if (!current_block || !current_block->live || !has_room(*current_block, this) ||
      now < since + agent_state.wait_min_ns / 2)
    return;
  if (!events.take(now)) return;
  waiters_ = wait_trace.waiters.count(place_);
  if (place_ != object_) wait_trace.waiters.unlock_at(object_, now);
  waited_ns_ = now - since;
  time_ns_ = now;
}

void Releasing::note() const {
  write_now({format::RecordKind::kRelease, kind_, object_, time_ns_, waited_ns_, uint64_t(waiters_)});
}

void note_signal(uint64_t condition, int32_t threads) {
  if (anybody_waits(condition)) wait_trace.waiters.signal(condition, threads, monotonic_ns());
}

void note_release(ObjectKind kind, uint64_t object, uint64_t time_ns) {
  write_now({format::RecordKind::kRelease, kind, object, time_ns, 0, 1});
}

namespace {

bool write_life(ObjectKind kind, const void* object, bool made, Allowance& allowance) {
  if (!current_block || !current_block->live || !has_room(*current_block, &kind)) return false;
  if (!allowance.has_any(recent_ns())) return false;
  const uint64_t now = monotonic_ns();
  return allowance.take(now) &&
         write_now({format::RecordKind::kCreation, kind, object_of(object), now, 0, uint64_t(made)},
                   made ? Detail::kNameAndStack : Detail::kNone);
}

void note_life(ObjectKind kind, const void* object, bool made, Allowance& allowance) {
  if (traces_waits() && !write_life(kind, object, made, allowance))
    wait_trace.unknown_lives.add(object_of(object));
}

}  // namespace

void note_creation(ObjectKind kind, const void* object) { note_life(kind, object, true, creations); }
void note_destruction(ObjectKind kind, const void* object) { note_life(kind, object, false, destructions); }

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
  if (!traces_waits() || !current_block || !can_write()) return;
  const uint64_t now = monotonic_ns();
  const auto write_one = [&](const Event& event) {
    const RecordFields fields = fields_of(event, kNoStack, now);
    return current_block->writer.write_for(other.record->index, agent_state.file, now, fields);
  };
  const auto write = [&](const Event& event) {
    if (event.kind == ObjectKind::kNone || event.kind >= ObjectKind::kCount || event.time_ns > now) return;
    if (is_for_unknown(event) && !write_one(end_of_life(event))) return count(format::Counter::kWaitsLost);
    if (!write_one(event)) count(format::Counter::kWaitsLost);
  };
  // It may go on meanwhile: what is copied is a wait of it all the same.
  void* const volatile& scope = other.open_scope;
  const void* const before = scope;
  const OpenWait wait = other.open_wait;
  const bool is_whole = before && scope == before;
  ShortWaits sums = other.short_waits;
  if (is_whole && wait.begin_ns < now)
    write({format::RecordKind::kWaitEvent, wait.kind, wait.object, now, now - wait.begin_ns, 1});
  for (uint32_t i = 0; i < ShortWaits::kSums; ++i) write(event_of(sums.take(i)));
}

}  // namespace varve::agent
