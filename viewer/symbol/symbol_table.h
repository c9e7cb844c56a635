// SPDX-License-Identifier: MIT
// SymbolTable: for every site of a profile the functions, files and lines it stands for, inlined calls
// included. Made by resolving (resolver.h) or by reading the profile's symbols file (symbol_file.h); both
// give the same table. Context: viewer.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/ids.h"
#include "common/units.h"

namespace varve::symbol {

/// Unique strings. Index 0 is the empty string. Moves keep every view alive; copies would not, so there are
/// none.
class StringTable {
 public:
  StringTable() { intern(""); }
  StringTable(StringTable&&) = default;
  StringTable& operator=(StringTable&&) = default;
  StringTable(const StringTable&) = delete;
  StringTable& operator=(const StringTable&) = delete;

  StringId intern(std::string_view text);
  std::string_view text(StringId id) const { return id.valid() ? std::string_view(texts_[id.index()]) : ""; }
  size_t size() const { return texts_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  std::vector<std::string_view> texts_;  // of the keys of ids_, whose nodes never move
  std::unordered_map<std::string, StringId, Hash, std::equal_to<>> ids_;
};

/// Where a function's name comes from, so that reports can mark what is only a guess.
enum class NameSource : uint8_t { kSymbolTable, kDwarf, kPlt, kJit, kVdso, kAddress, kSpecial };

struct Function {
  StringId name;          // demangled, with parameters: "ns::Queue<int>::push(int const&)"
  StringId short_name;    // for narrow tables: "ns::Queue::push"; equal to `name` where nothing can be cut
  StringId linkage_name;  // as in the symbol table
  ModuleId module;        // none for special rows
  StringId file;          // of its declaration; empty if unknown
  uint32_t line = 0;
  Address low;        // ELF vaddr of its first byte; zero if unknown
  uint64_t size = 0;  // bytes; zero if unknown
  NameSource source = NameSource::kAddress;
};

/// One frame of a site: the innermost first; all but the last are inlined into the next.
struct Frame {
  FunctionId function;
  StringId file;      // of the executing line, empty if unknown
  uint32_t line = 0;  // 0 if unknown
  bool inlined = false;
};

/// Why a module's addresses have no better names, and what the user can do about it.
struct ModuleQuality {
  ModuleId module;
  bool has_symtab = false;  // .symtab, debug file or MiniDebugInfo
  bool has_dwarf = false;
  std::string note;  // "no symbols: install its -dbgsym package and ..."; empty if all is well
};

struct SymbolTable {
  StringTable strings;
  std::vector<Function> functions;
  std::vector<Frame> frame_rows;
  std::vector<uint32_t>
      site_first;  // size = sites + 1: frames of site s are rows [site_first[s], site_first[s + 1])
  std::vector<ModuleQuality> modules;

  /// Innermost first; never empty: a site without a name has the function "module+0x1234".
  std::span<const Frame> frames(SiteId site) const {
    return {frame_rows.data() + site_first[site.index()], frame_rows.data() + site_first[site.index() + 1]};
  }
};

}  // namespace varve::symbol
