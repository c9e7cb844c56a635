// SPDX-License-Identifier: MIT
// Descriptors: what threads waited for by number gets the name that the number had then, and what goes in and
// out by it a number of its own, the same at both ends of a pipe or connection. Context: viewer.
#pragma once

#include <vector>

#include "viewer/load/agent_file.h"
#include "viewer/load/profile.h"
#include "viewer/load/wait_looks.h"

namespace varve::load {

/// Fills Waits::names, names and flows of waits and releases of descriptors, and Waits::pipe_ends. `agents`
/// has a row each of the processes that had an agent, in their order; `looks` are
/// those whose waits are observed ones.
void name_descriptors(Profile& profile, const std::vector<AgentFile>& agents, const WaitLooks& looks);

}  // namespace varve::load
