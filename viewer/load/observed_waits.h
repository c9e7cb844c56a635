// SPDX-License-Identifier: MIT
// Observed waits: looks at blocked threads become waits where no hook of an agent recorded one. A wait that
// was looked at lasts as long as the observer saw the thread blocked around the look. Waits between looks,
// too short or too many to be looked at each, are added up by the nearest look at their thread, as samples
// of CPU time stand for the time around them. Hooks' waits without a stack get that of a look.
// Context: viewer.
#pragma once

#include "viewer/load/path_tree.h"
#include "viewer/load/profile.h"
#include "viewer/load/wait_looks.h"

namespace varve::load {

/// Adds rows to Waits::waits, which were sorted and are again, and modules, sites and paths of their stacks;
/// sorts the looks.
/// Threads must have their tracks.
void add_observed_waits(Profile& profile, PathTree& tree, WaitLooks& looks);

}  // namespace varve::load
