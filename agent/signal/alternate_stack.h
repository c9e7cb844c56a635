// SPDX-License-Identifier: MIT
// The alternate signal stack that the agent gives a thread that has none, so that ticks take nothing of a
// small stack. Not what the program's handlers run on: that is handler_stack.h. Context: signal
// (is_our_alternate_stack), hooks, the thread's own start and end.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "agent/signal/thread_block.h"

namespace varve::agent {

/// A signal frame is 3.5 KB, 11.6 KB once AMX is used; the handler takes some 2.5 KB. The rest is margin for
/// the program's handlers that stay here: those that it sets past the C library, and of several signals that
/// come at once all but the first.
inline constexpr uint32_t kAlternateStackBytes = 256 * 1024;

/// At agent start: what the kernel says of its frames (AT_MINSIGSTKSZ; 0: it does not).
void learn_signal_frame(uint64_t bytes);
/// Whether so much of an alternate stack has room for a tick that leaves at once: the kernel's frame.
bool holds_frame(uint64_t bytes);
/// And for one that takes the thread's stack.
bool holds_tick(uint64_t bytes);
/// Whether the frame that the kernel made with this context leaves room for a tick's stack to be taken, on
/// the alternate stack where it lies; on the thread's own there always is.
bool has_room_for_tick(const ucontext_t& context);
/// Whether a whole tick has room there beside whatever the program's handler takes.
bool has_room_beside_handler(const ucontext_t& context);
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
