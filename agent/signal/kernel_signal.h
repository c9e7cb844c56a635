// SPDX-License-Identifier: MIT
// What rt_sigaction and its kin take: the kernel's own layouts, not the C library's. Context: signal.
#pragma once

#include <cstddef>
#include <cstdint>

namespace varve::agent {

inline constexpr size_t kKernelSetBytes = 8;  // sizeof of the kernel's sigset_t on x86-64

/// The kernel's own struct sigaction; zeroed it means SIG_DFL without flags.
struct KernelAction {
  void* handler = nullptr;
  unsigned long flags = 0;
  void* restorer = nullptr;
  uint64_t mask = 0;
};

}  // namespace varve::agent
