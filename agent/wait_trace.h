// SPDX-License-Identifier: MIT
// Waits as they happen: hooks say that the calling thread waits for an object (Waiting), or lets the threads
// that wait for one go on (Releasing), each for the time of a scope around the real function. A wait becomes
// a record once it is over, with the stack then, if it was long enough; short ones are counted and added up.
// Not a hook: those are hook_*.cc, a family a file. Context: any thread of the target, its signal handlers
// included.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/release_notes.h"
#include "agent/signal/thread_block.h"
#include "agent/unknown_lives.h"
#include "agent/waiters.h"
#include "common/wait_format.h"

namespace varve::agent {

struct WaitTrace {
  std::atomic<bool> on{false};
  std::atomic<bool> had_waiters{false};  // any thread for any object, ever; hardly ever written
  TickLength tick_length;
  Waiters waiters;
  UnknownLives unknown_lives;
  ReleaseNotes release_notes;

  /// A forked child begins with nobody that waits, and with a file of its own: those pages read as zeros
  /// again. Called once, by the parent.
  void wipe_on_fork();
};
extern WaitTrace wait_trace __attribute__((visibility("hidden")));

/// Whether waits of this process are recorded.
inline bool traces_waits() { return wait_trace.on.load(std::memory_order_relaxed); }

/// From agent start on, where the recorder asked for it.
void start_wait_trace();
void stop_wait_trace();

inline uint64_t object_of(const void* address) { return reinterpret_cast<uint64_t>(address); }

/// Until the kernel has found the descriptors readable a poll is for none that is known; one of no
/// descriptors is a sleep.
inline constexpr OpenWait polls(bool any) {
  return any ? OpenWait{format::ObjectKind::kPoll, format::kNoDescriptor, 0}
             : OpenWait{format::ObjectKind::kSleep, 0, 0};
}

/// Whether there is anything to look for at all: a process whose threads never wait asks no more than this.
inline bool had_waiters() { return wait_trace.had_waiters.load(std::memory_order_relaxed); }

/// Whether a thread waits for the object; also true for another object in its place.
inline bool anybody_waits(uint64_t object) { return traces_waits() && wait_trace.waiters.count(object) > 0; }
inline bool anybody_waits(const void* object) { return anybody_waits(object_of(object)); }

/// Whether a call that came back soon has waited at all: it was asked before, or nobody knows.
enum class Asked : bool { kNo, kYes };

/// Of a function of the C library or syscall(): that its time was over.
bool is_time_out(long result);

/// The calling thread waits. Where its scope is left by cancellation the wait ends when that was asked for,
/// and by a longjmp then: see hook_leave.cc. Left in another way, by an exception out of a signal handler, it
/// is counted as lost, once the thread waits again at that depth of its stack. Not recorded where the stack
/// has little room: what bare would have fitted must fit.
class Waiting {
 public:
  Waiting(format::ObjectKind kind, uint64_t object, Asked asked = Asked::kYes);
  Waiting(const OpenWait& wait, Asked asked) : Waiting(wait.kind, wait.object, asked) {}
  ~Waiting() {
    if (block_) end();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  /// 0: it is not recorded.
  uint64_t begin_ns() const { return block_ ? wait_.begin_ns : 0; }
  /// Before its scope ends, or instead. Returns how long it took, 0 where it is not recorded.
  uint64_t end();
  /// Whether the thread waits so, as its block says.
  bool is_open_in(const ThreadBlock& block) const;

  /// How many other threads wait for it.
  int32_t others() const { return block_ ? wait_trace.waiters.count(wait_.object) - 1 : 0; }
  /// Since when the first of them does.
  uint64_t others_since_ns() const { return wait_trace.waiters.since_ns(wait_.object); }
  /// The call came back at once, and says so.
  void was_none() { was_none_ = true; }
  /// As the call behind a hook returned, which the hook returns: whether it is for its time-out. Of what
  /// gives an error, by whatever convention; and of what says how many are ready.
  template <typename Result>
  Result returned(Result result) {
    timed_out_ = is_time_out(result);
    return result;
  }
  int found_ready(int count) {
    timed_out_ = count == 0;
    return count;
  }
  /// For a condition, with this mutex: what the wait takes because somebody has that is a wait of its own,
  /// for the mutex.
  void is_with(uint64_t mutex);
  /// What was waited for turned out later; only for kinds that no thread of the process releases.
  void was_for(uint64_t object) { wait_.object = long_object_ = object; }
  /// Likewise, but short ones are counted for what was waited for.
  void was_for_if_long(uint64_t object) { long_object_ = object; }

 private:
  void end_for_mutex(ThreadBlock& block, uint64_t now) const;

  ThreadBlock* block_;  // null: not recorded
  OpenWait wait_;
  OpenWait outer_;               // what this thread waited for when a handler of the program's came
  void* outer_scope_ = nullptr;  // likewise
  uint64_t long_object_;
  const Asked asked_;
  uint64_t mutex_ = 0;  // of a condition
  bool was_none_ = false;
  bool timed_out_ = false;
};

/// When it is sure that somebody is let go on: before the call, which most often lets who waits go on; or
/// only by its result.
enum class Sure : bool { kBefore, kAfter };

/// The calling thread lets those go on that wait for an object, if any do. After the scope the object may
/// be gone: only its address is used.
class Releasing {
 public:
  Releasing(format::ObjectKind kind, uint64_t object, Sure sure = Sure::kBefore)
      : Releasing(kind, object, object, sure) {}
  /// `place`: where Waiters have those that wait for it.
  Releasing(format::ObjectKind kind, uint64_t object, uint64_t place, Sure sure = Sure::kBefore)
      : kind_(kind), sure_(sure), object_(object), place_(place) {
    if (anybody_waits(place)) look();
  }
  Releasing(format::ObjectKind kind, const void* object) : Releasing(kind, object_of(object)) {}
  ~Releasing() {
    if (time_ns_ != 0) tell();
  }
  Releasing(const Releasing&) = delete;
  Releasing& operator=(const Releasing&) = delete;

  /// The call has let nobody go on, where that is only sure afterwards.
  void was_none() { time_ns_ = 0; }

 private:
  void look();
  void note(uint64_t time_ns) const;
  void tell() const;

  const format::ObjectKind kind_;
  const Sure sure_;
  const uint64_t object_, place_;
  uint64_t time_ns_ = 0;  // of the release; 0: there is nothing left to tell
  uint64_t waited_ns_ = 0;
  int32_t waiters_ = 0;  // 0: nobody has waited long
};

/// So many threads that wait for the condition are about to be woken.
void note_signal(uint64_t condition, int32_t threads);

/// The calling thread, one that is recorded, came last to a barrier, at `came_ns`, and has let the `others`
/// go on, of whom the first waited since `since_ns`; its call is over. After its Waiting, so that there is
/// room on its stack.
struct LastToCome {
  uint64_t barrier, came_ns, since_ns;
  int32_t others;
};
void note_last_to_come(const LastToCome& last);

/// The calling thread, one that is recorded, may have let somebody go on: who, nobody can ask. After a
/// Waiting of its own, so that there is room on its stack.
void note_release(format::ObjectKind kind, uint64_t object, uint64_t time_ns);

/// The calling thread has initialized an object, or destroyed it. Where that has no record the waits for what
/// lies there are from now on for an object of which nothing is known.
void note_creation(format::ObjectKind kind, const void* object);
void note_destruction(format::ObjectKind kind, const void* object);

/// Ends the waits of the calling thread whose scopes lie below `stack_pointer`, a place of its own stack to
/// which it jumps, and those of the alternate stack that it leaves so. Out of a handler that stands near the
/// end of the stack they are lost.
void end_waits_below(ThreadBlock& block, uint64_t stack_pointer);

/// Writes what the calling thread has counted and not written; a wait that it was in is over. At its end.
void end_waits(ThreadBlock& block);

/// Writes, by the calling thread, what `other` waits for and has counted: the process ends, and the wait with
/// it. With all signals blocked, while the block lives.
void end_waits_of_other(const ThreadBlock& other);

}  // namespace varve::agent
