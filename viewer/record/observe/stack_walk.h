// SPDX-License-Identifier: MIT
// The stack of a thread of another process that is blocked in a system call, by call frame information. Of
// its registers only two are known, program counter and stack pointer; the others become known where a frame
// has saved them. Nothing is ever guessed from words that lie on the stack: that would invent stacks. Whether
// the thread stood still meanwhile is the caller's to know. Not the agent's unwinder, which is for its own
// process and within a signal.
// Context: viewer, one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "common/sample_format.h"
#include "viewer/record/observe/code_map.h"
#include "viewer/record/observe/remote_memory.h"

namespace varve::record::observe {

struct SeenFrame {
  uint32_t module = CodeFiles::kNone;  // row of CodeFiles
  uint64_t address = 0;                // ELF virtual address; runtime address in code of no file
};

struct SeenStack {
  std::vector<SeenFrame> frames;  // from the leaf; each address inside the instruction that was executing
  format::StackEnd end = format::StackEnd::kNoUnwindInfo;
  bool used_frame_pointer = false;
  bool in_hook = false;  // of the agent: the thread tells this wait itself
};

/// `pc` is the address after the instruction that called the kernel.
SeenStack walk_stack(CodeMap& map, CodeFiles& files, RemoteMemory& memory, uint64_t pc, uint64_t sp,
                     Nanos now);

/// How far the stack pointer is below the frame pointer in code that has begun as functions with frame
/// pointers do (push %rbp; mov %rsp,%rbp; pushes; sub $N,%rsp). -1: it does not say. `code` is what lies
/// between the function's begin and the place in question, or a part of that.
int64_t frame_depth(const uint8_t* code, size_t size);

}  // namespace varve::record::observe
