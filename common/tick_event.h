// SPDX-License-Identifier: MIT
// The kernel's event of a thread's CPU time that ticks may come from instead of its CPU timer (perf events,
// task-clock): what the agent opens for each thread, and the recorder for itself, to see whether that is
// allowed. Its signal is SIGTRAP, which cannot be chosen, with a word of ours; it is sent on the way back to
// the program, so no call is woken or cut short. Context: any; nothing here allocates.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>

namespace varve::format {

inline constexpr int kTrapPerf = 6;            // si_code of such a signal, TRAP_PERF in asm/siginfo.h
inline constexpr uint32_t kSigtrapMajor = 6;   // Linux 6.1 is the first that sends it on the way back;
inline constexpr uint32_t kSigtrapMinor = 1;   // before, it interrupted calls
inline constexpr long kTickEventBytes = 4096;  // what is mapped of an event: its first page keeps it alive

/// CPU time of a thread before it gets one, where nobody asked for events: short threads are spared the cost.
inline constexpr uint64_t kEventsAfterNs = 4'000'000;

/// A signal every `period_ns` of CPU time, in the kernel as well as outside; `word` comes with it. It ends
/// with the program, and is not inherited.
inline perf_event_attr tick_event(uint64_t period_ns, uint64_t word) {
  perf_event_attr event{};
  event.size = sizeof event;
  event.type = PERF_TYPE_SOFTWARE;
  event.config = PERF_COUNT_SW_TASK_CLOCK;
  event.sample_period = period_ns;
  event.exclude_hv = 1;
  event.sigtrap = 1;
  event.remove_on_exec = 1;
  event.sig_data = word;
  return event;
}

}  // namespace varve::format
