// SPDX-License-Identifier: MIT
// ElfImage: what a module's own mapped headers say of it: executable ranges, extent and build id. They are
// copied by the kernel, for the module may be unloaded meanwhile. Context: signal, agent start.
#pragma once

#include <elf.h>

#include <cstdint>

#include "agent/signal/code_range.h"
#include "agent/signal/kernel_copy.h"

namespace varve::agent {

struct ElfImage {
  static constexpr uint32_t kMaxRanges = 8;
  static constexpr uint32_t kMaxBuildId = 64;

  uint64_t start = 0, end = 0;  // of all PT_LOAD segments, runtime addresses; the start by pages
  CodeRange code[kMaxRanges];
  uint32_t code_count = 0;
  uint32_t build_id_size = 0;
  uint8_t build_id[kMaxBuildId];
};

/// Where program headers are mapped; a count of 0: nowhere.
struct ProgramHeaders {
  uint64_t address = 0;
  uint32_t count = 0;
};

/// Those of the ELF file mapped at `base`.
ProgramHeaders mapped_program_headers(uint64_t base, uint64_t mapped_bytes);

/// Fills `image` through `bytes`; `bias` is runtime address - ELF virtual address. False: they cannot be
/// read, or no more.
bool read_program_headers(ProgramHeaders headers, uint64_t bias, WindowedCopy& bytes, ElfImage& image);

}  // namespace varve::agent
