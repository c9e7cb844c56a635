// SPDX-License-Identifier: MIT
// Lifetimes: from when to when threads and processes lived, once all that was recorded of them is known. The
// agent begins after the kernel and the dynamic loader, and looks at clocks before destructors and the kernel
// are done. Context: viewer.
#pragma once

#include <vector>

#include "viewer/load/ledger.h"
#include "viewer/load/profile.h"

namespace varve::load {

/// Widens the times of threads that no observer saw to the CPU time that is charged to them, and of all to
/// their samples; those of processes to their threads. `facts` has a row a thread.
void complete_lifetimes(Profile& profile, const std::vector<ThreadFacts>& facts);

}  // namespace varve::load
