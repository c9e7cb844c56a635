// SPDX-License-Identifier: MIT
// Whether the program is one that Valgrind simulates. There the kernel's signals reach Valgrind and not the
// program: it takes the SIGTRAP of an event for a fault of its own, and ends. And it would tell the user of
// reads of the unwinder's as if they were the program's. Context: agent start.
#pragma once

#include <cstdint>

namespace varve::agent {

/// By Valgrind's client request RUNNING_ON_VALGRIND, 0x1001 (its manual, "The client request mechanism"):
/// four rotations, 128 bits in all, and an exchange of a register with itself, which a processor does to no
/// effect.
inline bool runs_in_valgrind() {
  constexpr uint64_t kRunningOnValgrind = 0x1001;
  const volatile uint64_t request[6] = {kRunningOnValgrind};
  uint64_t answer = 0;
  asm volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
               : "+d"(answer)
               : "a"(request)
               : "cc", "memory");
  return answer != 0;
}

}  // namespace varve::agent
