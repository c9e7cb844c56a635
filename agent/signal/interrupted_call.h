// SPDX-License-Identifier: MIT
// A tick and a signal of the program's that end one wait together. Whether a call is made again after a
// signal is asked of the first one that the kernel delivers, and SIGTRAP, by which events tick, comes before
// all others, SIGPROF before those with a greater number: what the program's own handler was to end with
// EINTR would wait on, for ever where nothing else comes. Of signals sent to the process, not to the thread,
// another thread may take the one seen here: then a call ends with EINTR that the program must expect of any.
// Where a filter of system calls is set nothing is asked, for it may end the program for the question.
// Context: signal.
#pragma once

#include <ucontext.h>

namespace varve::agent {

/// Before the return from a tick that interrupted `context`, with all but faults blocked: where a call that
/// waits is to be made again, and a handler of the program's comes next that does not restart calls, the call
/// ends with EINTR, as it would have without the tick.
void end_call_for_program(ucontext_t& context);

}  // namespace varve::agent
