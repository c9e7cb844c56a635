// SPDX-License-Identifier: MIT
// The children that this process reaped, as records of its file; the hooks that see them are in hook_wait.cc.
// Context: fork, with SIGPROF blocked.
#pragma once

namespace varve::agent {

/// In the child of a fork, whose file tells of none yet.
void forget_reaped_children();

}  // namespace varve::agent
