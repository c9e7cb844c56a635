// SPDX-License-Identifier: MIT
// What a filter of system calls (seccomp) would do to the agent: its program, in the kernel's classic BPF, is
// run here for each call that the agent makes. Not the hooks that meet such filters (hook_filter.cc).
// Context: any thread of the target.
#pragma once

#include <linux/filter.h>

namespace varve::agent {

/// Whether the filter would end the program, or send it a signal, or ask another process, for a call of the
/// agent's. A refusal with an error does no harm, but for the return from a signal handler. Of a program that
/// cannot be read nothing is known, nor will the kernel take it: false.
bool would_harm(const sock_fprog* filter);
/// The same for the one call that only ticks from events need.
bool would_harm_events(const sock_fprog* filter);

}  // namespace varve::agent
