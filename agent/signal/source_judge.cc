// SPDX-License-Identifier: MIT
// See source_judge.h.
// Context: signal, and the thread's own waits.
#include "agent/signal/source_judge.h"

#include <sys/resource.h>

#include <algorithm>

#include "agent/signal/agent_state.h"
#include "agent/signal/raw_syscall.h"
#include "common/tick_event.h"

namespace varve::agent {
namespace {

uint64_t ticks_of(const ThreadBlock& block) { return block.record->ticks + block.record->overruns; }

/// The kernel stops and starts an event's timer at each context switch, which takes up to 10 us of a virtual
/// machine below its own tick: that is to be no more than 4 % of the thread's time.
Suits judge_cost(const StepEvidence& seen) {
  constexpr uint64_t kSwitchNs = 10'000, kMostShare = 25;
  return seen.switches * kSwitchNs * kMostShare > seen.cpu_ns ? Suits::kTimer : Suits::kEvent;
}

}  // namespace

uint64_t least_judged_ns(uint64_t interval_ns) {
  // To open an event takes 0.1 ms, so 20,000 threads of 0.1 ms that had one from their start took three times
  // as long. How often one waits takes some intervals to know, of which in the worst case none has a sample.
  constexpr uint64_t kIntervals = 4;
  return agent_state.events_in_step ? interval_ns * kIntervals : format::kEventsAfterNs;
}

Suits judge_source(ThreadBlock& block, uint64_t cpu_ns, uint64_t interval_ns) {
  const Judged before = block.judged;
  // A child of vfork(), which has this thread's block, has a clock of its own.
  if (cpu_ns < before.cpu_ns || cpu_ns - before.cpu_ns < least_judged_ns(interval_ns)) return Suits::kUnknown;
  rusage used{};
  if (failed(raw_syscall(__NR_getrusage, RUSAGE_THREAD, as_arg(&used))))
    return agent_state.events_in_step ? Suits::kTimer : Suits::kEvent;
  const Judged now{cpu_ns, uint64_t(used.ru_nvcsw) + uint64_t(used.ru_nivcsw), uint64_t(used.ru_nvcsw)};
  block.judged = now;
  const StepEvidence seen{.interval_ns = interval_ns,
                          .cpu_ns = now.cpu_ns - before.cpu_ns,
                          .switches = now.switches - before.switches,
                          .voluntary = now.voluntary - before.voluntary,
                          .by_timer = !block.event_page,
                          .timer_cpu_ns = cpu_ns - std::min(cpu_ns, block.timer_since.cpu_ns),
                          .ticks = ticks_of(block) - block.timer_since.ticks};
  if (!agent_state.events_in_step) return judge_cost(seen);
  const Suits suits = judge_step(seen, block.in_step);
  // What the thread did long ago hides nothing of what it does now.
  if (has_enough_ticks_due(seen)) begin_timer_evidence(block, cpu_ns);
  return suits;
}

void begin_timer_evidence(ThreadBlock& block, uint64_t cpu_ns) {
  block.timer_since = {cpu_ns, ticks_of(block)};
}

}  // namespace varve::agent
