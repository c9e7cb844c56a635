// SPDX-License-Identifier: MIT
// The environment of a program about to be started: what the caller chose, with the two variables that carry
// the recording put back where they are missing. Ours is prepended to the LD_PRELOAD that is there, never put
// in its place. Context: exec and posix_spawn hooks, in vfork children too: no allocation, memory comes from
// the caller's stack.
#pragma once

#include <cstddef>

namespace varve::agent {

/// Learns our own path and session from the environment, at agent start.
void learn_carried_environment();

/// Takes our two variables out of this process's environment: its children are not to be followed.
void drop_carried_environment();

/// Bytes of memory that carry_environment() needs for `environment`; 0 if that can be passed on as it is.
size_t carried_bytes(char* const* environment);

/// `environment` with the recording carried on, built in `memory` of carried_bytes() bytes, aligned for
/// pointers.
char** carry_environment(char* const* environment, void* memory, size_t bytes);

/// Calls `use` with the environment to hand on, which lives on the stack for that call.
template <typename Use>
auto with_carried_environment(char* const* environment, Use use) {
  size_t bytes = carried_bytes(environment);
  if (!bytes) return use(environment);
  return use(static_cast<char* const*>(carry_environment(environment, __builtin_alloca(bytes), bytes)));
}

}  // namespace varve::agent
