// SPDX-License-Identifier: MIT
// See wait_records.h.
// Context: any thread of the target, its signal handlers included.
#include "agent/wait_records.h"

#include "agent/descriptor_names.h"
#include "agent/image.h"
#include "agent/signal/agent_state.h"
#include "agent/signal/clock.h"
#include "agent/signal/tick_source.h"
#include "agent/signal_block.h"

namespace varve::agent {
namespace {

using format::ObjectKind;

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

RecordFields fields_of(const WaitRecord& record, uint8_t flags, uint64_t now_ns) {
  RecordFields fields;
  fields.kind = record.record;
  fields.flags = flags | (record.timed_out ? format::kWaitTimedOut : 0);
  for (const uint64_t number :
       {now_ns - record.time_ns, uint64_t(record.kind), record.object, record.duration_ns, record.count})
    fields.numbers[fields.count++] = number;
  return fields;
}

/// When the thread began what ended then: the descriptor was this one already.
uint64_t begin_of(const WaitRecord& record) {
  return record.time_ns - (record.record == format::RecordKind::kWaitEvent ? record.duration_ns : 0);
}

bool is_for_unknown(const WaitRecord& record) {
  return record.record == format::RecordKind::kWaitEvent && format::is_in_memory(record.kind) &&
         wait_trace.unknown_lives.has(record.object);
}

/// When the last of its waits began, as the loader reckons it. What another thread counts may be half
/// written.
uint64_t last_begin_of(const WaitRecord& wait) {
  return wait.time_ns - wait.duration_ns / (wait.count ? wait.count : 1);
}

/// To the loader: what was made there was destroyed before this wait began.
WaitRecord end_of_life(const WaitRecord& wait) {
  return {format::RecordKind::kCreation, wait.kind, wait.object, last_begin_of(wait), 0, 0};
}

}  // namespace

bool records_waits() { return in_recorded_process() && agent_state.takes_samples(agent_state.state()); }

bool write_wait_record(ThreadBlock& block, const WaitRecord& record, Detail detail) {
  if (!records_waits()) return false;
  if (block.record == &block.unrecorded) return count(format::Counter::kWaitsLost), false;
  const uint64_t now = monotonic_ns();
  const bool told =
      !is_for_unknown(record) || write_record(block, now, fields_of(end_of_life(record), kNoStack, now), 0);
  // Of a release too: who waits at the other end is found by the name.
  if (format::is_descriptor(record.kind) && detail != Detail::kNone)
    note_descriptor(int(record.object), begin_of(record));
  TakenStack stack;
  if (detail == Detail::kNameAndStack) stack = take_stack(block);
  const bool written = told && write_record(block, now, fields_of(record, stack.flags, now), stack.depth);
  if (!written) count(format::Counter::kWaitsLost);
  return written;
}

bool write_now(const WaitRecord& record, Detail detail) {
  ThreadBlock& block = *current_block;
  if (block.in_wait_trace) return count(format::Counter::kWaitsLost), false;
  InTrace tracing(block);
  SignalBlock guard;
  return write_wait_record(block, record, detail);
}

bool write_for_other(uint32_t thread, const WaitRecord& record, uint64_t now_ns) {
  if (thread == format::kNoThread) return count(format::Counter::kWaitsLost), false;
  SampleWriter& writer = current_block->writer;
  const auto write = [&](const WaitRecord& each) {
    return writer.write_for(thread, agent_state.file, now_ns, fields_of(each, kNoStack, now_ns));
  };
  const bool written = (!is_for_unknown(record) || write(end_of_life(record))) && write(record);
  if (!written) count(format::Counter::kWaitsLost);
  return written;
}

}  // namespace varve::agent
