// SPDX-License-Identifier: MIT
// What an observer cannot tell, by the clocks of the agent. By sweeps: a thread's end lies after the last
// sweep that saw it, and one that began and ended between two sweeps was not seen at all. A compiler run is
// all ends and short threads. By switches: the kernel records an exit while it still works on it. Context:
// viewer.
#pragma once

#include <vector>

#include "viewer/load/ledger.h"
#include "viewer/load/profile.h"

namespace varve::load {

/// By sweeps gives each thread with a known end that end, and the CPU time that its clock counted after its
/// last sweep; and each that no sweep saw a track of its own. By switches moves exits to the ends of threads.
/// `facts`: of the ledger, a row a thread.
void complete_track_ends(Profile& profile, const std::vector<ThreadFacts>& facts);

}  // namespace varve::load
