// SPDX-License-Identifier: MIT
// ElfImage: what a module's own mapped headers say of it: executable ranges, extent and build id. Reads only
// inside the first mapping, which the loader found good enough to run code from. Context: signal, agent
// start.
#pragma once

#include <elf.h>

#include <cstdint>

#include "agent/signal/code_range.h"

namespace varve::agent {

struct ElfImage {
  static constexpr uint32_t kMaxRanges = 8;
  static constexpr uint32_t kMaxBuildId = 64;

  uint64_t start = 0, end = 0;  // of all PT_LOAD segments, runtime addresses
  CodeRange code[kMaxRanges];
  uint32_t code_count = 0;
  const uint8_t* build_id = nullptr;
  uint32_t build_id_size = 0;
};

/// Fills `image` from program headers; `bias` is runtime address - ELF virtual address.
void read_program_headers(const Elf64_Phdr* headers, uint32_t count, uint64_t bias, ElfImage& image);

/// The program headers of the ELF file mapped at `base`, or null where there is no such thing. `count` is
/// set.
const Elf64_Phdr* mapped_program_headers(const void* base, uint64_t mapped_bytes, uint32_t& count);

}  // namespace varve::agent
