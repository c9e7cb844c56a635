// SPDX-License-Identifier: MIT
// The observer knows threads by pid and tid over their whole life; the agents know them by program image.
// Here the two become one: every load::Thread learns its track, and a thread that only the observer saw (made
// by a raw clone, or of a program that no agent could be loaded into) gets a row of its own. Context: viewer.
#pragma once

#include "viewer/load/profile.h"

namespace varve::load {

/// Fills Thread::track and appends rows with Thread::seen_only. Profile::run_states must be there, and the
/// ledger made: the new rows have no CPU time in it.
void join_tracks(Profile& profile);

}  // namespace varve::load
