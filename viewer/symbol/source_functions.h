// SPDX-License-Identifier: MIT
// From a DWARF subprogram or inlined call to the function it is an instance of.
// Context: viewer; inside source_lines.cc.
#pragma once

#include <elfutils/libdw.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "viewer/symbol/source_lines.h"

namespace varve::symbol {

/// A file as the unit's tables name it, with the directory that the compiler ran in where it is relative to
/// that.
std::string source_path(Dwarf_Die* unit, std::string_view name);

class SourceFunctions {
 public:
  /// `bytes`: of names that may be kept. Damaged DWARF can give one long string to every function.
  explicit SourceFunctions(uint64_t bytes) : bytes_left_(bytes) {}

  /// Index into functions() of the function that `die` (an instance, inlined or not) belongs to.
  uint32_t of(Dwarf_Die die);
  std::vector<SourceFunction>& functions() { return functions_; }

 private:
  /// A namespace, class or function of a unit, and the place of the one around it in the unit's list.
  struct Nested {
    Dwarf_Die die;
    uint32_t parent;
  };
  using UnitScopes = std::vector<Nested>;  // in the order of the file, so sorted by die.addr

  std::string qualified_name(Dwarf_Die die);
  const UnitScopes& scopes_of(const Dwarf_Die& unit);

  bool afford(const SourceFunction& function);

  uint64_t bytes_left_;
  std::unordered_map<const void*, uint32_t> by_die_;
  std::unordered_map<std::string, uint32_t> by_identity_;
  std::unordered_map<const void*, UnitScopes> units_;
  std::vector<SourceFunction> functions_;
};

}  // namespace varve::symbol
