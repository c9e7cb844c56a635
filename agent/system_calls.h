// SPDX-License-Identifier: MIT
// System calls that the program makes by syscall(): what the hook of that function hands on, a family a file,
// and the function behind it. Context: any thread of the target, its signal handlers included.
#pragma once

namespace varve::agent {

/// syscall() of the C library.
long call_system(long number, long a, long b, long c, long d, long e, long f);

/// futex(2), timed where it waits: hook_futex.cc.
long call_futex(long word, long operation, long value, long time, long word2, long value3);

/// The program is about to call seccomp(2): hook_filter.cc.
void before_seccomp(long operation, long flags, const void* argument);

}  // namespace varve::agent
