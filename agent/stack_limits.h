// SPDX-License-Identifier: MIT
// Where a thread's own stack lies, without pthread_getattr_np: that allocates, in every thread it is asked
// in. Context: start of a thread, on that thread.
#pragma once

#include <cstdint>

#include "agent/signal/unwind.h"

namespace varve::agent {

/// The stack that the kernel gave the process, up to where its first frame began.
StackBounds main_stack();

/// The stack of a thread made by pthread_create. glibc puts its thread descriptor at the top of the stack, so
/// the descriptor's address is the upper end. `bytes` is the size asked for (0: the default), `low` the lower
/// end if the program supplied it.
StackBounds thread_stack(uint64_t bytes, uint64_t low);

/// Reads the default stack size once, at agent start.
void learn_default_stack_size();

}  // namespace varve::agent
