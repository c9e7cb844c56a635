// SPDX-License-Identifier: MIT
// Linux x86-64 system calls without libc: no errno, no cancellation point, no lock, and no symbol that
// another library could interpose. They return what the kernel returns: a value, or -errno. Context: signal.
#pragma once

#include <cstdint>

namespace varve::agent {

inline long raw_syscall(long number, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0, uint64_t d = 0,
                        uint64_t e = 0, uint64_t f = 0) {
  register uint64_t r10 asm("r10") = d;
  register uint64_t r8 asm("r8") = e;
  register uint64_t r9 asm("r9") = f;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

}  // namespace varve::agent
