// SPDX-License-Identifier: MIT
// Descriptors: what threads waited for by number gets the name that the number had then. Context: viewer.
#pragma once

#include <vector>

#include "viewer/load/agent_file.h"
#include "viewer/load/profile.h"

namespace varve::load {

/// Fills Waits::names, and Wait::name and Release::name of waits for descriptors and writes to them, and
/// Waits::outputs. `agents` has a row each of the processes that
/// had an agent, in their order.
void name_descriptors(Profile& profile, const std::vector<AgentFile>& agents);

}  // namespace varve::load
