// SPDX-License-Identifier: MIT
// CodeTable: the machine code of some functions of a profile, with the functions, files and lines of every
// address in it and of what it jumps to. Read from the profile's code file or collected from the program
// files (code_collect.h). Context: viewer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "viewer/load/profile.h"
#include "viewer/symbol/symbol_table.h"

namespace varve::symbol {

/// A function's code, or a part of it that lies elsewhere.
struct CodePiece {
  ModuleId module;
  uint64_t low = 0;  // ELF virtual address
  std::vector<uint8_t> bytes;

  uint64_t end() const { return low + bytes.size(); }
  bool contains(uint64_t vaddr) const { return vaddr >= low && vaddr < end(); }
};

struct CodeTable {
  std::vector<CodePiece> pieces;   // by module and address; disjoint
  std::vector<load::Site> places;  // sorted. In a piece: where something else begins; outside: jump targets
  SymbolTable names;               // of the places

  /// The piece that holds the address; null if there is none.
  const CodePiece* piece_at(ModuleId module, uint64_t vaddr) const;
  /// Innermost first; empty for an address that is neither in a piece nor a target.
  std::span<const Frame> frames_at(ModuleId module, uint64_t vaddr) const;
};

}  // namespace varve::symbol
