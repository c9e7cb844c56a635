// SPDX-License-Identifier: MIT
// What the hook families (hook_*.cc) offer to the rest of the agent: their set-up, and real functions past
// their hooks. Context: agent start.
#pragma once

#include <signal.h>

namespace varve::agent {

/// Looks up the functions behind all hooks, while there is one thread and no signal yet.
void resolve_hooks();

/// Registers what must run at thread ends and forks. Only in a process that is recorded.
void start_hooks();

void resolve_thread_hooks();
void resolve_process_hooks();
void resolve_loader_hooks();
void resolve_signal_hooks();
void start_thread_hooks();
void start_process_hooks();

/// sigaction() past our hook.
int real_sigaction(int signal, const struct sigaction* action, struct sigaction* before);

/// dlclose() past our hook.
int close_library(void* handle);

}  // namespace varve::agent
