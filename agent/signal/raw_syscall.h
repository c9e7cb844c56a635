// SPDX-License-Identifier: MIT
// Linux x86-64 system calls as inline functions that return -errno: no errno, no cancellation point, no hook
// of the program or of ours in between, and nothing that could take a lock. Context: signal, and every other
// part of the agent.
#pragma once

#include <asm/unistd.h>

#include <cstdint>

namespace varve::agent {

#ifdef VARVE_FAULTS
/// In the agent that tests build (test/faults): 0, or the -errno that this call is to fail with.
long refused(long number);
#else
constexpr long refused(long) { return 0; }
#endif

/// The kernel's answer: a value, or -errno in [-4095, -1].
inline long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  if (const long error = refused(number)) return error;
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

constexpr bool failed(long result) { return result < 0 && result >= -4095; }

template <typename T>
inline long as_arg(T* pointer) {
  return long(pointer);
}

}  // namespace varve::agent
