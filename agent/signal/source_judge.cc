// SPDX-License-Identifier: MIT
// See source_judge.h.
// Context: signal, and the thread's own waits.
#include "agent/signal/source_judge.h"

#include <sys/resource.h>

#include <algorithm>

#include "agent/signal/agent_state.h"
#include "agent/signal/raw_syscall.h"

namespace varve::agent {
namespace {

/// What a thread did in so much CPU time.
struct Lately {
  uint64_t cpu_ns = 0;
  uint64_t switches = 0, voluntary = 0;
};

/// The kernel stops and starts an event's timer at each context switch, which takes up to 10 us of a virtual
/// machine at 1 ms, 3 us at 10 ms.
constexpr uint64_t kSwitchNs = 10'000, kRareSwitchNs = 3'000;
/// An event is to take no more than 4 % of the thread's time; where it only might be better, 0.5 %.
constexpr uint64_t kMostShare = 25, kCheapShare = 200;

/// What it did until now is kept in the block, for the next time.
bool learn(ThreadBlock& block, uint64_t cpu_ns, Lately& lately) {
  rusage used{};
  if (failed(raw_syscall(__NR_getrusage, RUSAGE_THREAD, as_arg(&used)))) return false;
  const Judged now{cpu_ns, uint64_t(used.ru_nvcsw) + uint64_t(used.ru_nivcsw), uint64_t(used.ru_nvcsw)};
  const Judged& before = block.judged;
  lately = {now.cpu_ns - before.cpu_ns, now.switches - before.switches, now.voluntary - before.voluntary};
  block.judged = now;
  return true;
}

/// A thread whose timer had four times as many ticks as were due since it began, or a quarter, runs when the
/// scheduler ticks, or does not. By chance alone a thread that runs for a part of a tick at a time has so few
/// or so many of sixteen once in a million times.
bool is_out_of_proportion(const ThreadBlock& block, uint64_t cpu_ns, uint64_t interval_ns) {
  constexpr uint64_t kFactor = 4, kLeastDue = 16;
  if (block.self_limit.doublings()) return false;  // it had other intervals before
  const format::ThreadRecord& record = *block.record;
  const uint64_t due = (cpu_ns - std::min(cpu_ns, record.start_cpu_ns)) / interval_ns;
  const uint64_t came = record.ticks + record.overruns;
  return due >= kLeastDue && (came * kFactor < due || came > due * kFactor);
}

/// A thread that goes to wait less often than once in two intervals runs past so many ticks each time that
/// it matters little where they meet it.
bool may_be_in_step(const Lately& lately, uint64_t interval_ns) {
  return lately.voluntary * 2 * interval_ns >= lately.cpu_ns;
}

/// From the kernel's tick on a timer costs nothing between its ticks, so an event is for threads that may
/// work in step with the scheduler's.
Suits judge_step(ThreadBlock& block, const Lately& lately, uint64_t interval_ns) {
  const uint64_t cost_ns = lately.switches * kRareSwitchNs;
  const bool by_timer = !block.event_page;
  if (by_timer && is_out_of_proportion(block, block.judged.cpu_ns, interval_ns)) block.in_step = true;
  if (cost_ns * kMostShare > lately.cpu_ns) block.in_step = false;
  const bool cheap = cost_ns * kCheapShare <= lately.cpu_ns;
  const bool useful = !by_timer || may_be_in_step(lately, interval_ns);
  return block.in_step || (cheap && useful) ? Suits::kEvent : Suits::kTimer;
}

}  // namespace

uint64_t least_judged_ns(uint64_t interval_ns) {
  // To open an event takes 0.1 ms, so 20,000 threads of 0.1 ms that had one from their start took three times
  // as long. How often one waits takes some intervals to know, of which in the worst case none has a sample.
  constexpr uint64_t kLeastNs = 4'000'000, kIntervals = 4;
  return agent_state.events_in_step ? interval_ns * kIntervals : kLeastNs;
}

Suits judge_source(ThreadBlock& block, uint64_t cpu_ns, uint64_t interval_ns) {
  if (cpu_ns - block.judged.cpu_ns < least_judged_ns(interval_ns)) return Suits::kUnknown;
  Lately lately;
  if (!learn(block, cpu_ns, lately)) return agent_state.events_in_step ? Suits::kTimer : Suits::kEvent;
  if (agent_state.events_in_step) return judge_step(block, lately, interval_ns);
  return lately.switches * kSwitchNs * kMostShare > lately.cpu_ns ? Suits::kTimer : Suits::kEvent;
}

}  // namespace varve::agent
