// SPDX-License-Identifier: MIT
// Profile::marks and Profile::pauses from what the agents and the control page noted. Not the reader of those
// records: that is agent_file.h and session_file.h. Context: viewer.
#pragma once

#include <functional>
#include <vector>

#include "viewer/load/agent_file.h"
#include "viewer/load/profile.h"

namespace varve::load {

/// Pauses of the whole run. Profile::session must have its start and its elapsed time.
void add_run_pauses(Profile& profile, std::vector<format::ControlChange> changes);

/// Marks and pauses of one process; `thread_of` knows its threads by their index in its file.
void add_process_marks(Profile& profile, ProcessId process, const std::vector<AgentMark>& marks,
                       const std::function<ThreadId(uint32_t)>& thread_of);

/// Once all are there: by time.
void sort_marks(Profile& profile);

}  // namespace varve::load
