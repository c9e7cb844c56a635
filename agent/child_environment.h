// SPDX-License-Identifier: MIT
// The environment of a program about to be started: what the caller chose, with the two variables that carry
// the recording put back where they are missing. Ours is prepended to the LD_PRELOAD that is there, never put
// in its place. A program that cannot take it is given neither. Context: exec and posix_spawn hooks, in vfork
// children too: no allocation, memory comes from the caller's stack.
#pragma once

#include <cstddef>

namespace varve::agent {

/// Learns our own path and session from the environment, at agent start.
void learn_carried_environment();

/// Takes our two variables out of this process's environment, and puts them in no other: its children are not
/// to be followed.
void drop_carried_environment();

/// Whether programs that are started are recorded, too. Where not, nothing is asked of the kernel for them: a
/// filter of system calls may forbid it.
bool carries_recording();

/// Whether the program to be started can take this library.
enum class Takes : bool { kNo, kYes };

/// Bytes of memory that carry_environment() needs for `environment`; 0 if that can be passed on as it is.
size_t carried_bytes(char* const* environment, Takes takes);

/// `environment` with the recording carried on, or taken out, built in `memory` of carried_bytes() bytes,
/// aligned for pointers.
char** carry_environment(char* const* environment, Takes takes, void* memory, size_t bytes);

/// Calls `use` with the environment to hand on, which lives on the stack for that call.
template <typename Use>
auto with_carried_environment(char* const* environment, Takes takes, Use use) {
  size_t bytes = carried_bytes(environment, takes);
  if (!bytes) return use(environment);
  void* memory = __builtin_alloca(bytes);
  return use(static_cast<char* const*>(carry_environment(environment, takes, memory, bytes)));
}

}  // namespace varve::agent
