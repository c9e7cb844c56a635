// SPDX-License-Identifier: MIT
// ModuleCode: the machine code of a module around an address, as far as its function goes. Not lines and not
// names for people: module_names.h. Context: viewer; one object per thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "viewer/symbol/elf_symbols.h"
#include "viewer/symbol/module_file.h"
#include "viewer/symbol/plt_names.h"

namespace varve::symbol {

/// The functions of a module by all its symbol tables and, where they say nothing, by its unwind entries. The
/// names in it live as long as the files.
CodeMap code_map(const ModuleFile& files);

/// Its variables likewise.
CodeMap data_map(const ModuleFile& files);

class ModuleCode {
 public:
  ModuleCode(const load::Module& module, const ResolveOptions& options);

  struct Extent {
    uint64_t low = 0;
    std::span<const uint8_t> bytes;  // live as long as this object
  };
  /// The function or stub that holds the address, or that part of it that lies in one piece; nothing where
  /// the file of the run is gone or no function is known.
  std::optional<Extent> around(Address vaddr);
  /// Whether debug information may tell the places of an extent apart: without it they go by one name.
  bool has_lines() const { return files_.with_dwarf() != nullptr; }

 private:
  ModuleFile files_;
  CodeMap map_;
  std::optional<PltNames> plt_;
};

}  // namespace varve::symbol
