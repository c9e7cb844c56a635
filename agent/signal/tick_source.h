// SPDX-License-Identifier: MIT
// Where the ticks of one thread come from: its CPU timer (SIGPROF), which the kernel looks at when its own
// scheduler ticks, or an event of its CPU time (SIGTRAP), which has a timer of the processor's while the
// thread runs. An event is a mapping, not a descriptor: that is closed at once, so the program can neither
// see nor close it, and a fork does not copy it. Context: signal, and the thread's own start and end.
#pragma once

#include <signal.h>

#include "agent/signal/thread_block.h"

namespace varve::agent {

/// Whether the signal is a tick of the calling thread's: no other has the block's address with it.
bool is_tick(const siginfo_t& info, const ThreadBlock* block);

/// Ticks that came merged into this one, which ends `weight_ns` of CPU time: the kernel counts those of
/// timers; events have no such count, so it is the time that says it.
uint64_t merged_ticks(const ThreadBlock& block, const siginfo_t& info, uint64_t weight_ns);

/// Begins ticks of the calling thread, the first after a random part of the interval: without that, short
/// threads that do the same thing would always be sampled at the same place, or never. Where events are asked
/// for, but not at once, its CPU timer goes first, until the thread has run for a while; it stays where
/// events are refused or the thread is switched all the time, and that is counted, and for as long as the
/// thread blocks a SIGTRAP that the program handles. Who is refused a timer
/// (RLIMIT_SIGPENDING is used up) has an event, where that may be. 0, or -errno of the timer: the thread goes
/// without samples.
long start_ticks(ThreadBlock& block, uint64_t interval_ns);

/// The calling thread's ticks come at this interval from now on.
void change_interval(ThreadBlock& block, uint64_t interval_ns);

/// A tick of the calling thread was taken: where it is time the next ones come from an event, or get another
/// distance, so that no program's own rhythm is met at the same beat for long.
void vary_interval(ThreadBlock& block, uint64_t interval_ns);

/// Whether the thread still ticks by its timer where it is to have an event.
inline bool awaits_event(const ThreadBlock& block) {
  return block.ticks_of_distance != 0 && !block.event_page;
}

/// Whether that is to be looked at again, at the end of a wait.
inline bool is_time_for_event(const ThreadBlock& block, uint64_t now_ns) {
  constexpr uint64_t kBetweenLooksNs = 4'000'000;
  return awaits_event(block) && now_ns - block.event_look_ns >= kBetweenLooksNs;
}

/// At the end of a wait of the calling thread, where it is time: it gets its event where it has run for a
/// while. One that works in step with the scheduler's tick never has a first tick of its timer.
void look_for_event(ThreadBlock& block, uint64_t now_ns);

/// Ends ticks of whichever thread; one may still be pending.
void stop_ticks(ThreadBlock& block);

/// Ends those of the calling thread and takes a pending one out of the queue, so that none survives an exec
/// or outlives the block. The signals of ticks must be blocked.
void end_ticks(ThreadBlock& block);

}  // namespace varve::agent
