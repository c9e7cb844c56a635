// SPDX-License-Identifier: MIT
// When CPU time without a sample was used. The ledger knows how much of it a thread has and where it ends;
// what lies within pauses, or after the last sample of a thread that mostly waits, may be spread over
// seconds, and a report of a part of the run wants it where it was. Context: viewer.
#pragma once

#include <vector>

#include "viewer/load/ledger.h"
#include "viewer/load/profile.h"

namespace varve::load {

/// The rows, of which those of paused and residual time (and all of a thread without a timer) are cut into
/// pieces with the same sum where the observer saw the thread run; paused time, where nobody looked, over the
/// pauses. A row has some 64 pieces at most. `profile` needs its threads, tracks and pauses, `facts` a row a
/// thread.
std::vector<LedgerRow> place_in_time(const Profile& profile, const std::vector<ThreadFacts>& facts,
                                     const std::vector<LedgerRow>& rows);

}  // namespace varve::load
