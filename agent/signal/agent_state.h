// SPDX-License-Identifier: MIT
// AgentState: the one instance of everything the agent has in this process. It is zero-initialised memory:
// nothing of it costs anything until it is used, and there is no constructor that could run late. Not per
// thread: that is ThreadBlock. Context: signal, and every other part of the agent.
#pragma once

#include <atomic>
#include <cstdint>

#include "agent/signal/code_range.h"
#include "agent/signal/copied_code.h"
#include "agent/signal/java_frames.h"
#include "agent/signal/module_log.h"
#include "agent/signal/process_file.h"
#include "agent/signal/program_signal.h"
#include "agent/signal/rule_cache.h"
#include "agent/signal/spin_lock.h"
#include "agent/signal/thread_block.h"
#include "common/file_format.h"

namespace varve::agent {

/// Open segments of ended threads: the next thread goes on in one, so a thousand short threads fill one
/// chunk.
class SegmentPool {
 public:
  bool take(Segment& segment);
  /// False: full; the caller seals the segment.
  bool give(const Segment& segment);
  void reset();

 private:
  static constexpr uint32_t kCapacity = 256;
  SpinLock lock_;
  uint32_t count_ = 0;
  Segment segments_[kCapacity] = {};
};

struct AgentState {
  std::atomic<bool> active{false};             // this process image is being recorded
  std::atomic<bool> paused_by_program{false};  // varve_pause()
  int32_t pid = 0;  // of the process that set this up: a child by raw clone has another
  const format::ControlBlock* control = nullptr;
  uint64_t interval_ns = 0;
  uint32_t stack_depth = 0;  // frames kept of a stack
  uint32_t walk_limit = 0;   // frames followed
  bool follow = false;
  uint64_t wait_min_ns = 0;  // waits as long as this have a stack; 0: none is recorded

  format::CountersRecord* counters = nullptr;
  format::ProcessRecord* process = nullptr;
  RuleCache rules;
  std::atomic<JavaCodeMap*> java{nullptr};  // null: no HotSpot here
  ProgramSignal program_signals[2];         // SIGPROF, and SIGTRAP where ticks come from events
  uint64_t tick_signals = 0;                // these, as a set
  bool events_wanted = false;               // ticks are to come from events
  bool events_at_once = false;              // from the start of a thread on
  bool events_in_step = false;              // only of threads that work, or may, in step with the scheduler
  /// And may: at the start there was no debugger and no filter that the recorder has not tried, and no filter
  /// of the program's own forbids it.
  std::atomic<bool> events_allowed{false};
  CodeRange own_code;  // this library: its frames are kept out of stacks

  // Large ones last: the start of a process touches fewer pages, each of which is a page fault.
  ProcessFile file;
  ModuleLog modules;
  SegmentPool segments;
  CopiedCode copied_code;

  bool recorded() const { return active.load(); }
  bool uses_events() const { return events_allowed.load(std::memory_order_relaxed); }
  /// Null: the signal is the program's alone.
  ProgramSignal* program_signal(int number) {
    for (ProgramSignal& each : program_signals)
      if (number && each.number() == number) return &each;
    return nullptr;
  }
  /// Of the signals of ticks, those that the program has a handler for.
  uint64_t handled_signals() const {
    uint64_t handled = 0;
    for (const ProgramSignal& each : program_signals)
      if (each.handled()) handled |= each.bit();
    return handled;
  }
  /// SIGTRAP, if it is one of these: breakpoints of the program's own must be let in.
  uint64_t handled_trap() const { return handled_signals() & uint64_t{1} << (SIGTRAP - 1); }
  bool takes_samples(format::ControlState state) const {
    return state == format::ControlState::kRecording && !paused_by_program.load(std::memory_order_relaxed);
  }
  format::ControlState state() const {
    return format::ControlState(__atomic_load_n(&control->state, __ATOMIC_RELAXED));
  }
};

extern AgentState agent_state __attribute__((visibility("hidden")));

/// Of its ticks, in CPU time: what was asked for, or longer where the handler took too much of it.
inline uint64_t interval_of(const ThreadBlock& block) {
  return agent_state.interval_ns << block.self_limit.doublings();
}

/// Appends a record with the stack in the writer's scratch() to the thread's segment, or to one that an ended
/// thread left. False: no room in the file, or another thread holds it.
bool write_record(ThreadBlock& block, uint64_t time_ns, const RecordFields& fields, uint32_t depth);

inline void count(format::Counter which, uint64_t amount = 1) { count(*agent_state.counters, which, amount); }

/// Puts into the counters that the file cannot grow, if so, and why.
inline void note_file_error() {
  const int why = agent_state.file.why_not();
  if (!why) return;
  const bool is_final = agent_state.file.error() != 0;
  const auto which = is_final ? format::Counter::kFileGrowFailed : format::Counter::kGrowRefused;
  agent_state.counters->values[uint32_t(which)] = 1;
  agent_state.counters->values[uint32_t(format::Counter::kLastErrno)] = uint64_t(why);
}

}  // namespace varve::agent
