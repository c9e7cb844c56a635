// SPDX-License-Identifier: MIT
// Which source of ticks suits a thread, by how often it was switched and how many ticks its timer had.
// Context: signal, and the thread's own waits.
#pragma once

#include <cstdint>

#include "agent/signal/step_rule.h"
#include "agent/signal/thread_block.h"

namespace varve::agent {

/// CPU time that a thread is judged by, in ns: of less nothing is known.
uint64_t least_judged_ns(uint64_t interval_ns);

/// By what it did since it was judged last; it has used `cpu_ns` so far. Where it is known, that begins anew.
Suits judge_source(ThreadBlock& block, uint64_t cpu_ns, uint64_t interval_ns);

/// The thread has a timer, or another interval, from now on: what its ticks were before says nothing more.
void begin_timer_evidence(ThreadBlock& block, uint64_t cpu_ns);

}  // namespace varve::agent
