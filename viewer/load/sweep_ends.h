// SPDX-License-Identifier: MIT
// What sweeps cannot tell, by the clocks of the agent: a thread's end lies after the last sweep that saw it,
// and one that began and ended between two sweeps was not seen at all. A compiler run is all ends and short
// threads. Not for switches, which are exact. Context: viewer.
#pragma once

#include "viewer/load/profile.h"

namespace varve::load {

/// Gives each thread with a known end that end, and the CPU time that its clock counted after its last sweep;
/// and each that no sweep saw a track of its own.
void complete_sweep_ends(Profile& profile);

}  // namespace varve::load
