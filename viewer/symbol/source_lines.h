// SPDX-License-Identifier: MIT
// SourceLines: for code addresses of one module the source functions, files and lines that its DWARF gives,
// inlined calls included. Only compilation units that hold a wanted address are read. Not symbol tables:
// elf_symbols.h. Not names for people: demangle.h. Context: viewer; made by one thread, which has the file
// for itself meanwhile.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "viewer/symbol/elf_file.h"
#include "viewer/symbol/symbol_table.h"

namespace varve::symbol {

inline constexpr uint32_t kNoFunction = UINT32_MAX;

/// A function as its abstract instance describes it: one row whether it was inlined or called.
struct SourceFunction {
  std::string linkage;  // mangled; empty for C and for what the compiler gave none
  std::string name;     // with its namespaces and classes where there is no linkage name
  std::string file;     // of its declaration
  uint32_t line = 0;
  uint64_t low = 0;  // entry of an out-of-line instance, if one was seen
  uint64_t size = 0;
};

struct SourceFrame {
  uint32_t function = kNoFunction;  // none: a line without a function, as in assembly
  StringId file;                    // of the executing line
  uint32_t line = 0;
};

struct SourceLines {
  std::vector<SourceFunction> functions;
  StringTable files;
  std::vector<SourceFrame> frames;
  std::vector<uint32_t> first;  // size = addresses + 1; an address without information has no frames
  bool has_dwarf = false;
  bool incomplete = false;  // the DWARF is damaged or asked for more work than its size allows

  std::span<const SourceFrame> of(size_t address) const {
    return {frames.data() + first[address], frames.data() + first[address + 1]};
  }
};

/// `vaddrs`: sorted, unique. Frames are innermost first. Never throws; damaged DWARF gives fewer frames.
SourceLines read_source_lines(const ElfFile& file, std::span<const uint64_t> vaddrs);

}  // namespace varve::symbol
