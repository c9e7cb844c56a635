// SPDX-License-Identifier: MIT
// The walk from interrupted registers to the root of the stack: rule cache, then CFI, then HotSpot's own
// frame sizes or frame pointers where code has no CFI. It stops with a named reason, reads memory only
// through StackMemory, and takes no lock. Not a symbolizer, and not for other processes' stacks. Context:
// signal. Less than 2 KB of stack, all callees included.
#pragma once

#include <ucontext.h>

#include <cstdint>

#include "agent/signal/frame_list.h"
#include "agent/signal/java_frames.h"
#include "agent/signal/rule_cache.h"
#include "agent/signal/stack_memory.h"
#include "common/cfi.h"
#include "common/sample_format.h"

namespace varve::agent {

/// Frames that are followed: a frame of a deep recursion takes about 20 ns, most of it for the stack's
/// memory, and a tick may take a thirtieth of its interval for them. 16666 frames for 10 ms.
constexpr uint32_t walk_limit(uint64_t interval_ns) {
  constexpr uint64_t kLeast = 4096, kMost = 65536;
  const uint64_t frames = interval_ns / (20 * 30);
  return uint32_t(frames < kLeast ? kLeast : frames > kMost ? kMost : frames);
}

/// Registers of one frame, by DWARF number; value[16] is the pc.
struct Registers {
  static constexpr uint32_t kAll = (1u << cfi::kRegisterCount) - 1;

  uint64_t value[cfi::kRegisterCount] = {};
  uint32_t known = 0;  // bit n: value[n] is what the register holds

  bool knows(unsigned reg) const { return (known >> reg) & 1; }
};

/// All registers, as the kernel saved them for a handler.
Registers registers_of(const ucontext_t& context);

struct UnwindResult {
  uint32_t depth = 0;  // of `frames`: what the list holds now
  format::StackEnd end = format::StackEnd::kNoUnwindInfo;
  bool used_frame_pointer = false;  // at least one caller was found by frame pointer
  uint32_t cache_hits = 0;
  uint32_t cache_misses = 0;
};

/// Writes the frames from the leaf to the root. Each is an address inside the instruction that was executing:
/// the interrupted IP (of the first frame, and after a signal frame), else return address - 1. The trampoline
/// of a signal frame, which nobody called, is recorded by its own address. `own_stack` is the stack of this
/// thread; other stacks are read by probed pages. `limit` frames with more to come end with kDepthLimit.
/// `java` is HotSpot's code, if there is any.
UnwindResult unwind(const Registers& start, StackBounds own_stack, RuleCache& cache, FrameList& frames,
                    uint32_t limit, JavaCodeMap* java = nullptr);

}  // namespace varve::agent
