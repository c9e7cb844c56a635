// SPDX-License-Identifier: MIT
// OpenedModule: a module's files with what is read of them once: where its functions and stubs begin and end,
// and the machine code around an address. Not names for people: module_names.h. Context: viewer; used by one
// thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "viewer/symbol/elf_symbols.h"
#include "viewer/symbol/module_file.h"
#include "viewer/symbol/plt_names.h"

namespace varve::symbol {

class OpenedModule {
 public:
  /// `server` may be null. Never fails: what is missing is missing.
  OpenedModule(const load::Profile& profile, ModuleId id, const ResolveOptions& options, Debuginfod* server);
  OpenedModule(const OpenedModule&) = delete;  // stubs are read from the files
  OpenedModule& operator=(const OpenedModule&) = delete;

  const ModuleFile& files() const { return files_; }
  /// Its functions by all its symbol tables and, where they say nothing, by its unwind entries. The names in
  /// it live as long as this object.
  const CodeMap& code() const { return code_; }
  /// Its variables likewise, read anew: few modules are asked for them.
  CodeMap data() const;
  std::optional<PltStub> stub(Address vaddr);

  struct Extent {
    uint64_t low = 0;
    std::span<const uint8_t> bytes;  // live as long as this object
  };
  /// The function or stub that holds the address, or that part of it that lies in one piece; nothing where
  /// the file of the run is gone or no function is known.
  std::optional<Extent> around(Address vaddr);
  /// Whether debug information may tell the places of an extent apart: without it they go by one name.
  bool has_lines() const { return files_.with_dwarf() != nullptr; }

  /// Of its files on disk.
  uint64_t bytes() const;

 private:
  ModuleFile files_;
  CodeMap code_;
  std::optional<PltNames> plt_;
};

}  // namespace varve::symbol
