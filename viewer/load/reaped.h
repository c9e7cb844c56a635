// SPDX-License-Identifier: MIT
// What became of processes, as those told it that reaped them: the recorder, and parents with an agent.
// Context: viewer.
#pragma once

#include <vector>

#include "viewer/load/profile.h"

namespace varve::load {

/// Fills Process::reaped_time and reaped_cpu of the images that were the last of their processes. A pid may
/// be used again within a run. What was reaped while the recording was paused, by `changes` of its state, is
/// not to be recorded.
void add_reaped(Profile& profile, std::vector<format::ProcessExitRecord> exits,
                const std::vector<format::ControlChange>& changes);

}  // namespace varve::load
