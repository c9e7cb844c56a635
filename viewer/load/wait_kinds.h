// SPDX-License-Identifier: MIT
// Kinds of waits: the observer looks at a blocked thread now and then, and does not see for what most wait;
// where the thread's own agent recorded a wait, that says. Context: viewer.
#pragma once

#include "viewer/load/profile.h"

namespace varve::load {

/// Gives blocked events of RunStates the kind of the recorded wait that they lie in.
void tell_wait_kinds(Profile& profile);

}  // namespace varve::load
