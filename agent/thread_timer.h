// SPDX-License-Identifier: MIT
// The CPU-clock timer of one thread: armed and disarmed by the thread itself, by system calls (glibc's
// timer_create would allocate). Its value is the thread's block, by which the handler knows a tick of ours.
// Context: the thread's own start and end, fork child, exec hook.
#pragma once

#include "agent/signal/thread_block.h"

namespace varve::agent {

/// Creates and starts the timer. 0, or -errno (EAGAIN: RLIMIT_SIGPENDING is used up); then the thread goes
/// without samples.
long arm_timer(ThreadBlock& block, uint64_t interval_ns);

/// Deletes the timer and takes a pending tick out of the queue, so that none survives an exec or outlives the
/// block. SIGPROF must be blocked.
void disarm_timer(ThreadBlock& block);
/// Deletes the timer alone, of whichever thread.
void stop_timer(ThreadBlock& block);

}  // namespace varve::agent
