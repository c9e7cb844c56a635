// SPDX-License-Identifier: MIT
// When the turns of threads begin. The kernel charges a thread from the moment at which it chose it; the
// record of the switch is written when that is done. In between are the switch itself, other page tables and
// cold caches: 1 us from one thread of a program to another, 14 us of a server that takes the processor from
// another program again and again, a quarter of its CPU time. Context: viewer.
#pragma once

#include <vector>

#include "viewer/load/ledger.h"
#include "viewer/load/profile.h"

namespace varve::load {

/// Where switches were recorded, and hardly any was lost: has each turn of a thread begin as much before its
/// record as the thread's clock says that it did on average, in ns: (CPU time - time between records) /
/// turns, of what lies between two readings of that clock that the observer saw all of. Threads of few turns
/// have an average together. No turn begins before the thread's last one ended, or before the end of another
/// thread's on the same processor; what had no room there is before other turns. So levels of concurrency add
/// up to the threads' CPU time. To be called before the ends of threads are moved by what the kernel took for
/// them (make_ledger).
void begin_turns_when_charged(Profile& profile, const std::vector<ThreadFacts>& facts);

}  // namespace varve::load
