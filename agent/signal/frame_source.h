// SPDX-License-Identifier: MIT
// The unwinder's lookup of an object, which is also how modules become known: every module of every stack
// passes here at its first cache miss, so nothing has to watch dlopen, and libraries that no stack led
// through are not listed. Context: signal; agent and thread start, for what they know to be needed.
#pragma once

#include "agent/signal/object_lookup.h"

namespace varve::agent {

/// A FindObject (object_lookup.h) over the dynamic loader's table that notes the module in
/// agent_state.modules.
bool find_and_note_object(uint64_t pc, ObjectFrameInfo* info);

}  // namespace varve::agent
