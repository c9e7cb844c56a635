// SPDX-License-Identifier: MIT
// The dynamic loader's lock-free answer to "which object is this address in", glibc 2.35 and later.
// Referenced weakly so that an older glibc still starts the program; the agent then stays off. Context:
// signal, and every other part of the agent.
#pragma once

#include <dlfcn.h>

#include <cstdint>

#pragma weak _dl_find_object

namespace varve::agent {

inline bool can_find_objects() { return &_dl_find_object != nullptr; }

/// False: no object of the loader's is there (JIT code, or nothing at all).
inline bool find_object(uint64_t address, dl_find_object& result) {
  return _dl_find_object(reinterpret_cast<void*>(address), &result) == 0;
}

}  // namespace varve::agent
