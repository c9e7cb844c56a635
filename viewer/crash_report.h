// SPDX-License-Identifier: MIT
// If varve itself crashes: one sentence and a stack on stderr, then the death the kernel meant.
// Context: viewer.
#pragma once

namespace varve {

/// Handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT on an alternate stack, and for std::terminate.
void install_crash_report();

/// Called first when the process is lost: it may do what a signal handler may. Null: nothing.
void set_crash_cleanup(void (*cleanup)());

/// The exit code where there is not enough memory to go on; 1 until it is set.
void set_failure_exit(int code);

}  // namespace varve
