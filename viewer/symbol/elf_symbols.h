// SPDX-License-Identifier: MIT
// CodeMap: the functions, or the variables, of a module by address, from its symbol tables, its PLT and,
// where no symbol is, from the ranges of its unwind entries. Ranges never overlap, so a look-up is one binary
// search. Not names for people: demangle.h makes those. Not lines: dwarf_lines.h. Context: viewer; made and
// used by one thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "viewer/symbol/elf_file.h"
#include "viewer/symbol/symbol_table.h"

namespace varve::symbol {

/// One function symbol as it stands in a table. The order of preference among aliases is better_alias().
struct CodeSymbol {
  uint64_t start = 0;
  uint64_t size = 0;
  std::string_view name;  // of the string section: valid while the ElfFile lives
  uint8_t binding = 0;
  bool typed = false;  // STT_FUNC or STT_GNU_IFUNC, not a bare label
};

/// The name a reader expects: no underscores that the library put before it, global before weak before local,
/// then the shorter, then the first of the alphabet, so that the choice never depends on the order in the
/// file.
bool better_alias(const CodeSymbol& a, const CodeSymbol& b);

/// Underscores that a library put before a name; those of mangled names and of the kernel's __vdso_ mean
/// nothing.
size_t foreign_underscores(std::string_view name);

/// Where a named or nameless function lies. Half open.
struct CodeRange {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t low = 0;       // first byte of the whole function, in which another range may be nested
  uint64_t size = 0;      // of the whole function
  std::string_view name;  // empty: only the unwind entry is known
  NameSource source = NameSource::kAddress;
};

/// Disjoint and sorted.
class CodeMap {
 public:
  void add(std::span<const CodeRange> ranges);
  const CodeRange* find(Address vaddr) const;
  /// End of the last range before the address, or zero: where a nameless gap begins.
  uint64_t end_before(Address vaddr) const;
  size_t size() const { return ranges_.size(); }

 private:
  std::vector<CodeRange> ranges_;
};

/// Symbols of functions, or of variables, of .symtab or .dynsym, in file order.
std::vector<CodeSymbol> read_symbols(const ElfFile& file, uint32_t section_type,
                                     SymbolKind kind = SymbolKind::kCode);

/// Resolves aliases, gives labels without a size the space up to the next symbol, and unnests. Sections bound
/// them.
std::vector<CodeRange> ranges_of_symbols(std::vector<CodeSymbol> symbols, const ElfFile& file,
                                         SymbolKind kind = SymbolKind::kCode);

}  // namespace varve::symbol
