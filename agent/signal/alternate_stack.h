// SPDX-License-Identifier: MIT
// The alternate signal stack that the agent gives a thread that has none, so that ticks take nothing of a
// small stack. Not what the program's handlers run on: that is handler_stack.h. Context: signal
// (is_our_alternate_stack), hooks, the thread's own start and end.
#pragma once

#include <cstdint>

#include "agent/signal/thread_block.h"

namespace varve::agent {

/// A signal frame is 3.5 KB, 11.6 KB once AMX is used; the handler takes some 2.5 KB. The rest is margin for
/// the program's handlers that stay here: those that it sets past the C library, and of faults within a tick.
inline constexpr uint32_t kAlternateStackBytes = 256 * 1024;

/// At agent start: what the kernel says of its frames (AT_MINSIGSTKSZ; 0: it does not).
void learn_signal_frame(uint64_t bytes);
/// Whether so much of an alternate stack has room for a tick: the kernel's frame and what the handler takes.
bool has_room_for_tick(uint64_t bytes);
/// Whether it has that beside a handler of the program's, of which nobody knows what it takes.
bool has_room_beside_handler(uint64_t bytes);
/// The alternate stack that the calling thread stands on; of no size where it stands on none.
StackBounds alternate_stack_here();

/// Gives the calling thread the block's alternate signal stack, unless the program has set one of its own.
void install_alternate_stack(ThreadBlock& block);
/// Takes it away again, if it is still the thread's.
void remove_alternate_stack(const ThreadBlock& block);
/// And for good: this process is not recorded, and has the memory nevertheless.
void leave_alternate_stack(const ThreadBlock& block);
/// Of the calling thread, by the lowest address of the stack that the kernel says it has.
bool is_our_alternate_stack(const void* low);

}  // namespace varve::agent
