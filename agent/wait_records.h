// SPDX-License-Identifier: MIT
// Records of waits, of releases, and of objects that are made and destroyed: how one is written. Not when:
// see wait_trace.h. Context: any thread of the target, its signal handlers included. All signals are blocked
// while a record is written: the segment is the tick handler's, too.
#pragma once

#include <cstdint>

#include "agent/allowance.h"
#include "agent/signal/sample_writer.h"
#include "agent/wait_trace.h"

namespace varve::agent {

/// A process may write so many waits: four a millisecond, four thousand at once. One takes 1 to 4 us, most of
/// it for its stack, so that is about 1 % of a processor. Waits beyond are counted like short ones.
inline constinit Allowance wait_allowance{250'000, 1'000'000'000};
/// And so many releases, half as many, which waits must not use up: who sleeps with a lock would take the
/// last allowance for its own wait immediately before it lets the others go on.
inline constinit Allowance release_allowance{500'000, 2'000'000'000};

/// A wait, a release or a creation that was over at `time_ns`; what the numbers are: kWaitEvent.
struct WaitRecord {
  format::RecordKind record;
  format::ObjectKind kind;
  uint64_t object;
  uint64_t time_ns, duration_ns;
  uint64_t count;
  bool timed_out = false;
};

/// What a record says of the place, beside its numbers. A thread that was cancelled in its wait stands
/// somewhere else by now, in a handler or a destructor; the observer may have seen its stack meanwhile.
enum class Detail : uint8_t { kNone, kName, kNameAndStack };

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

/// Whether the process still records what happens.
bool records_waits();

inline bool on_own_stack(const ThreadBlock& block, const void* place) {
  return block.stack.contains(reinterpret_cast<uint64_t>(place));
}

/// To write a wait takes 2.5 KB of stack, with all that it calls. Of a stack that is not the thread's own
/// nobody knows how much there is.
inline bool has_room(const ThreadBlock& block, const void* here) {
  constexpr uint64_t kRoom = 8192;
  return !on_own_stack(block, here) || reinterpret_cast<uint64_t>(here) - block.stack.low >= kRoom;
}

/// With all signals blocked, in an InTrace. False: there is no record, which is counted where it was lost.
bool write_wait_record(ThreadBlock& block, const WaitRecord& record, Detail detail);

/// By a thread that has a block and is in no InTrace. False: there is no record.
bool write_now(const WaitRecord& record, Detail detail = Detail::kNameAndStack);

/// By the calling thread of another one, `thread` being its index: without a stack. With all signals blocked.
/// False: there is no record, which is counted.
bool write_for_other(uint32_t thread, const WaitRecord& record, uint64_t now_ns);

}  // namespace varve::agent
