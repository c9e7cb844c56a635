// SPDX-License-Identifier: MIT
// ElfFacts: what decides whether an agent can be preloaded into a program: class, machine, interpreter,
// libraries, language and sanitizers. Read from the file's headers, bounded by its size. Not a symbol reader:
// that is viewer/symbol. Context: viewer.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace varve::record {

struct ElfFacts {
  unsigned bits = 0;  // 32 or 64
  bool little_endian = true;
  uint16_t type = 0;                // ET_EXEC, ET_DYN, ...
  uint16_t machine = 0;             // EM_X86_64, ...
  bool dynamic = false;             // has PT_DYNAMIC
  std::string interpreter;          // PT_INTERP; empty: no dynamic loader
  std::vector<std::string> needed;  // DT_NEEDED
  bool go = false;
  bool defines_asan = false, defines_tsan = false,
       defines_msan = false;  // runtimes linked into the program itself

  bool needs(std::string_view library_prefix) const;  // "libasan.so"
};

/// The first four bytes are ELF's. Shorter or unreadable files are not ELF.
bool is_elf(const std::string& path);

/// The error is a clause: "is a damaged ELF file".
tl::expected<ElfFacts, std::string> read_elf_facts(const std::string& path);

}  // namespace varve::record
