// SPDX-License-Identifier: MIT
// What a session does not say because its recorder ended before, from what the agents' files say; and what
// these say of a time when nothing was to be recorded any more. Context: viewer.
#pragma once

#include <vector>

#include "viewer/load/ledger.h"
#include "viewer/load/profile.h"

namespace varve::load {

/// Command, host, directory and start, where they are missing, from the first process.
void complete_session(Profile& profile);

/// Where recording stopped before a process ended, the clocks of its end count what was not to be recorded,
/// and it lived for as long as that.
void forget_after_stop(Profile& profile);

/// The elapsed time, where it is missing: until the last that is known. `facts`: of the ledger.
void complete_elapsed(Profile& profile, const std::vector<ThreadFacts>& facts);

/// The number of processors, where it is missing: at least so many as the run states name.
void complete_processors(Profile& profile);

}  // namespace varve::load
