// SPDX-License-Identifier: MIT
// The handler of ticks: one delivered tick becomes one sample. Everything it calls lives in this folder.
// Context: signal.
#pragma once

#include <signal.h>

namespace varve::agent {

/// Installed with SA_SIGINFO | SA_RESTART | SA_ONSTACK for SIGPROF, and for SIGTRAP where ticks come from
/// events. What is no tick (is_tick()) is the program's.
void handle_tick_signal(int signal, siginfo_t* info, void* context);

}  // namespace varve::agent
