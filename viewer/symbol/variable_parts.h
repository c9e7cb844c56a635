// SPDX-License-Identifier: MIT
// What part of a variable an offset into it is, by its type in the DWARF: ".mu_", "[3].lock". Stops at what a
// library made, so a mutex is no ".__data.__lock". Not the variable's name: that is its symbol's. Context:
// viewer; one thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "viewer/symbol/elf_file.h"

namespace varve::symbol {

struct VariablePart {
  uint64_t variable = 0;  // vaddr of its first byte
  uint64_t offset = 0;    // bytes
  std::string part;       // out: empty for the whole, and where nothing is known
  bool known = false;     // out: the DWARF has the variable
};

/// Fills in the parts of variables that the file's DWARF describes.
void read_variable_parts(const ElfFile& file, std::span<VariablePart> parts);

}  // namespace varve::symbol
