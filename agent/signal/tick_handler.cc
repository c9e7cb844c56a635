// SPDX-License-Identifier: MIT
// See tick_handler.h.
// Context: signal.
#include "agent/signal/tick_handler.h"

#include <sys/prctl.h>
#include <ucontext.h>

#include <cerrno>

#include "agent/signal/agent_state.h"
#include "agent/signal/alternate_stack.h"
#include "agent/signal/clock.h"
#include "agent/signal/handler_stack.h"
#include "agent/signal/interrupted_call.h"
#include "agent/signal/tick_source.h"

namespace varve::agent {
namespace {

/// The name is read at the first tick and now and then: programs name their threads after starting them.
constexpr uint64_t kNameEveryTicks = 64;

/// So much CPU time may wait for the next sample while the file cannot grow: more would be where it was not
/// used.
constexpr uint64_t kMostCarriedNs = 100'000'000;

/// A sample that has no place in the file, and why.
void lose(uint64_t weight_ns) {
  count(format::Counter::kSamplesLost);
  count(format::Counter::kLostCpuNs, weight_ns);
  note_file_error();
}

/// What the handler took, in ns. One that took long may have been preempted, and then its CPU clock says; the
/// other is eight times as fast to read.
uint64_t time_since(uint64_t begin_ns, uint64_t begin_cpu_ns) {
  constexpr uint64_t kLong = 100'000;
  const uint64_t elapsed = monotonic_ns() - begin_ns;
  if (elapsed < kLong) return elapsed;
  const uint64_t cpu = thread_cpu_ns();
  return cpu > begin_cpu_ns ? cpu - begin_cpu_ns : elapsed;
}

void lengthen_interval(ThreadBlock& block) {
  block.record->interval_doublings = uint16_t(block.self_limit.doublings());
  change_interval(block, interval_of(block));
}

/// False: another thread holds the file for longer than a tick may wait, and the time has no place yet.
bool take_sample(ThreadBlock& block, uint64_t time_ns, SampleFields fields, const ucontext_t& context) {
  // Of a thread that has no record nobody could tell whose samples these are.
  if (agent_state.file.error() || block.record == &block.unrecorded) return lose(fields.weight_ns), true;
  FrameList frames(block.writer.scratch(), agent_state.stack_depth, agent_state.own_code);
  UnwindResult stack = unwind(registers_of(context), block.stack, agent_state.rules, frames,
                              agent_state.walk_limit, agent_state.java.load(std::memory_order_acquire));
  fields.end = stack.end;
  fields.used_frame_pointer = stack.used_frame_pointer;
  count(format::Counter::kRuleCacheHits, stack.cache_hits);
  count(format::Counter::kRuleCacheMisses, stack.cache_misses);
  if (write_record(block, time_ns, record_of(fields), stack.depth)) return true;
  note_file_error();
  if (!agent_state.file.error() && !(agent_state.file.refused() && fields.weight_ns > kMostCarriedNs))
    return false;
  return lose(fields.weight_ns), true;
}

void tick(ThreadBlock& block, const siginfo_t& info, const ucontext_t& context) {
  if (!agent_state.recorded()) return;  // pending as leave_image() came
  format::ControlState state = agent_state.state();
  // The recorder has ended the recording; the program goes on without ticks.
  if (state == format::ControlState::kStopped) return stop_ticks(block);
  uint64_t begin = monotonic_ns();
  const uint64_t before = block.last_cpu_ns, now = thread_cpu_ns();
  const uint64_t cpu = now > before ? now : before;
  if (!now) count(format::Counter::kClockRefused);
  uint64_t weight = cpu - before;
  format::ThreadRecord& record = *block.record;
  const uint64_t overrun = merged_ticks(block, info, weight);
  block.last_cpu_ns = record.last_cpu_ns = cpu;
  const bool samples = agent_state.takes_samples(state);  // another thread may change that meanwhile
  const bool taken =
      !samples || take_sample(block, begin, {.weight_ns = weight, .overrun = overrun}, context);
  // What has no place is in the weight of the next sample, and so are ticks that are told by the weight.
  if (!taken) block.last_cpu_ns = record.last_cpu_ns = before;
  if (taken || info.si_code == SI_TIMER) record.overruns += overrun;
  if (samples) {
    if (record.ticks % kNameEveryTicks == 0) raw_syscall(__NR_prctl, PR_GET_NAME, as_arg(record.name));
  } else {
    record.paused_ns += weight;
    count(format::Counter::kTicksPaused);
  }
  ++record.ticks;
  vary_interval(block, interval_of(block));
  const uint64_t took = time_since(begin, cpu);
  record.handler_ns += took;
  if (block.self_limit.exceeded_by(cpu, took, interval_of(block))) lengthen_interval(block);
}

}  // namespace

[[gnu::noinline]] void handle_tick_signal(int number, siginfo_t* info, void* context) {
  ThreadBlock* block = current_block;
  auto& interrupted = *static_cast<ucontext_t*>(context);
  if (is_tick(*info, block)) {
    // Its time is in the next one's. One within another: of the event that a timer's tick has just put in its
    // place.
    if (block->in_tick.load(std::memory_order_relaxed)) return;
    if (!has_room_for_tick(interrupted)) return count(format::Counter::kTicksWithoutRoom);
    int saved_errno = errno;
    block->in_tick.store(true, std::memory_order_relaxed);
    tick(*block, *info, interrupted);
    block->in_tick.store(false, std::memory_order_relaxed);
    leave_call_to_program(*block, interrupted);
    errno = saved_errno;
    return;
  }
  if (agent_state.counters) count(format::Counter::kForeignSignals);
  ProgramSignal* of_program = agent_state.program_signal(number);
  if (!of_program) return;
  const auto* return_address = static_cast<uint64_t*>(__builtin_frame_address(0)) + 1;
  const ProgramSignal::Met met{block && (block->program_blocks & of_program->bit()),
                               block && block->in_tick.load(std::memory_order_relaxed),
                               is_frame_of_kernel(interrupted, reinterpret_cast<uint64_t>(return_address))};
  of_program->deliver(*info, interrupted, met);
}

}  // namespace varve::agent
