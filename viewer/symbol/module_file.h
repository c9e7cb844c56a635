// SPDX-License-Identifier: MIT
// ModuleFile: the files that can name a module's addresses. The file at the module's path counts only if it
// is the one that ran: its build id must be the recorded one, or without one it must be older. Context:
// viewer; used by one thread at a time.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "viewer/load/profile.h"
#include "viewer/symbol/debug_files.h"
#include "viewer/symbol/elf_file.h"

namespace varve::symbol {

struct ModuleFile {
  std::optional<ElfFile> main;
  std::optional<ElfFile> debug;
  std::optional<ElfFile> mini;
  std::string note;  // why there are no symbols, and what the user can do; empty if there are

  /// The file whose section headers say what is code; null if nothing was found.
  const ElfFile* layout() const { return main ? &*main : debug ? &*debug : nullptr; }
  const ElfFile* with_symtab() const;
  const ElfFile* with_dwarf() const;
};

/// `server` may be null. Never fails: what is missing is missing, and the note says so.
ModuleFile open_module(const load::Profile& profile, ModuleId id, const ResolveOptions& options,
                       Debuginfod* server);

/// Why the file at the module's path is not the one that ran; empty: it is.
std::string changed_words(const ElfFile& file, const load::Profile& profile, ModuleId id);

/// The kernel's vDSO as it is mapped here, if it is the one of the profile.
std::optional<ElfFile> open_vdso(std::span<const uint8_t> build_id);

/// "libc.so.6" of "/lib/x86_64-linux-gnu/libc.so.6".
std::string module_basename(const std::string& path);

}  // namespace varve::symbol
