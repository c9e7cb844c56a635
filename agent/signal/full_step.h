// SPDX-License-Identifier: MIT
// One step by a whole row: every register, every kind of rule, expressions over real registers and memory.
// The slow twin of the packed rules, for rows that those cannot hold.
// Context: signal. About 1.1 KB of stack.
#pragma once

#include <cstdint>

#include "agent/signal/object_lookup.h"
#include "agent/signal/stack_memory.h"

namespace varve::agent {

struct Registers;

enum class FullStep : uint8_t {
  kCalled,       // done: the caller is a call away
  kSwitched,     // done: the row restores the stack pointer (longjmp, setcontext), to any stack
  kInterrupted,  // done: a signal frame; the pc is that of an instruction
  kMissingRegister,
  kBadMemory,
  kBadCfi,
  kUnsupported,
};

/// Gives the registers of `callee`'s caller. `exact` says that the pc is the address of an instruction, not a
/// return address.
FullStep evaluate_full(FindObject find, const Registers& callee, bool exact, StackMemory& memory,
                       Registers* caller);

}  // namespace varve::agent
