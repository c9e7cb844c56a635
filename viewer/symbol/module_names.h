// SPDX-License-Identifier: MIT
// ModuleNames: functions, files and lines of some addresses of one module, from whatever its files offer. The
// unit of work of the resolver's threads: it shares nothing but what it is given. Context:
// viewer; made by one thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "viewer/load/profile.h"
#include "viewer/symbol/opened_module.h"
#include "viewer/symbol/symbol_table.h"

namespace varve::symbol {

struct NamedFunction {
  std::string identity;  // equal for the same function of the module, however it was met
  std::string linkage;
  std::string name;  // demangled
  std::string short_form;
  std::string file;  // of its declaration
  uint32_t line = 0;
  uint64_t low = 0;
  uint64_t size = 0;
  NameSource source = NameSource::kAddress;
};

struct NamedFrame {
  uint32_t function = 0;
  StringId file;  // of ModuleNames::files
  uint32_t line = 0;
};

struct ModuleNames {
  std::vector<NamedFunction> functions;
  StringTable files;
  std::vector<NamedFrame> frames;  // innermost first
  std::vector<uint32_t> first;     // size = addresses + 1; every address has at least one frame
  bool has_symtab = false;
  bool has_dwarf = false;
  std::string note;
};

/// `vaddrs`: sorted, unique. `code_start`: lowest address of its code, if its file cannot say. `lines`: by
/// its debug information, too, not by symbol tables alone.
ModuleNames name_module(OpenedModule& opened, const load::Module& module, uint64_t code_start,
                        std::span<const uint64_t> vaddrs, bool lines);

}  // namespace varve::symbol
