// SPDX-License-Identifier: MIT
// A tick and a signal of the program's that end one wait together. What becomes of the call is asked of the
// first one that the kernel delivers, and SIGTRAP, by which events tick, comes before all others, SIGPROF
// before those of the thread with a greater number and all of the process. Is it to be made again after a
// signal? What the program's own handler was to end with EINTR would wait on, for ever where nothing else
// comes. Is its mask over? What only a sigsuspend was to let in would stay outside, though the call has
// ended. Of signals sent to the process, not to the thread, another thread may take the one seen here: then a
// call ends with EINTR that the program must expect of any, or waits for the next. Where a filter of system
// calls is set nothing is asked, for it may end the program for the question. Context: signal.
#pragma once

#include <ucontext.h>

#include "agent/signal/thread_block.h"

namespace varve::agent {

/// Before the return from a tick that interrupted `context`, with all but SIGTRAP blocked. Where a call that
/// waits is to be made again, and a handler of the program's comes next that does not restart calls, the call
/// ends with EINTR, as it would have without the tick. Where one that has a mask of its own, which `block`
/// has a note of, ended for the tick, and a signal is pending that only this mask lets in, it is made again,
/// and the signal ends it; not where a handler of the program's may have ended it before.
void leave_call_to_program(const ThreadBlock& block, ucontext_t& context);

}  // namespace varve::agent
