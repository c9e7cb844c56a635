// SPDX-License-Identifier: MIT
// The SIGPROF handler: one delivered tick becomes one sample. Everything it calls lives in this folder.
// Context: signal.
#pragma once

#include <signal.h>

namespace varve::agent {

/// Installed with SA_SIGINFO | SA_RESTART | SA_ONSTACK. A signal is a tick of ours if it comes from a timer
/// whose value is the thread's own block; any other SIGPROF is the program's.
void handle_sigprof(int signal, siginfo_t* info, void* context);

}  // namespace varve::agent
