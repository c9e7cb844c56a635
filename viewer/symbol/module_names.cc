// SPDX-License-Identifier: MIT
// DWARF says most and is asked first; the symbol table names what it leaves; PLT stubs are decoded; and the
// ranges of the unwind entries fold the rest. Context: viewer.
#include "viewer/symbol/module_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "common/clone_suffix.h"
#include "viewer/symbol/demangle.h"
#include "viewer/symbol/elf_symbols.h"
#include "viewer/symbol/opened_module.h"
#include "viewer/symbol/source_lines.h"
#include "viewer/symbol/variable_parts.h"

namespace varve::symbol {
namespace {

/// "foo.constprop.0" -> "foo": an instance of a function goes by the function's name. Other points are part
/// of names: Go's "main.hot".
std::string_view without_clone_suffix(std::string_view name) {
  for (size_t dot; (dot = name.rfind('.')) != 0 && dot != std::string_view::npos;) {
    if (!is_clone_suffix(name.substr(dot + 1))) break;
    name = name.substr(0, dot);
  }
  return name;
}

class Namer {
 public:
  Namer(OpenedModule& opened, const load::Module& module, uint64_t code_start, bool lines)
      : base_name_(module_basename(module.path)),
        code_start_(code_start),
        vdso_(module.path == "[vdso]"),
        lines_(lines),
        opened_(opened),
        files_(opened.files()),
        code_(opened.code()) {
    for (const auto* file : {&files_.main, &files_.debug})
      if (*file) name_bytes_left_ += 64 * (*file)->bytes();
  }

  ModuleNames name(std::span<const uint64_t> vaddrs) {
    SourceLines lines;
    if (const ElfFile* file = lines_ ? files_.with_dwarf() : nullptr)
      lines = read_source_lines(*file, vaddrs);
    ModuleNames result;
    result.first.push_back(0);
    source_functions_.assign(lines.functions.size(), kNoFunction);
    name_variables(vaddrs);
    for (size_t i = 0; i < vaddrs.size(); ++i) {
      auto frames = lines.first.empty() ? std::span<const SourceFrame>() : lines.of(i);
      const auto variable = variables_.find(vaddrs[i]);
      if (variable != variables_.end())
        frames_.push_back({variable->second, {}, 0});
      else if (frames.empty())
        frames_.push_back({code_function(vaddrs[i]), {}, 0});
      for (size_t k = 0; variable == variables_.end() && k < frames.size(); ++k)
        add_frame(lines, frames[k], k + 1 == frames.size(), vaddrs[i]);
      result.first.push_back(uint32_t(frames_.size()));
    }
    result.functions = std::move(functions_);
    result.frames = std::move(frames_);
    result.files = std::move(lines.files);
    result.has_symtab = files_.with_symtab() || files_.mini;
    result.has_dwarf = lines.has_dwarf;
    result.note = lines.incomplete ? "its debug information is damaged" : files_.note;
    return result;
  }

 private:
  void add_frame(const SourceLines& lines, const SourceFrame& frame, bool outermost, uint64_t vaddr) {
    uint32_t function =
        frame.function == kNoFunction ? code_function(vaddr) : source_function(lines, frame.function);
    if (outermost && frame.function != kNoFunction) note_symbol(functions_[function], vaddr);
    frames_.push_back({function, frame.file, frame.line});
  }

  uint32_t source_function(const SourceLines& lines, uint32_t index) {
    uint32_t& known = source_functions_[index];
    if (known != kNoFunction) return known;
    const SourceFunction& source = lines.functions[index];
    NamedFunction function;
    function.identity = fmt::format("{}\n{}\n{}", source.linkage.empty() ? source.name : source.linkage,
                                    source.file, source.line);
    function.file = source.file;
    function.line = source.line;
    function.low = source.low;
    function.size = source.size;
    function.source = NameSource::kDwarf;
    if (source.linkage.empty()) {
      function.name = source.name;
      function.short_form =
          source.name.find("::") == std::string::npos ? source.name : short_cxx_name(source.name);
    } else {
      set_linkage(function, source.linkage);
    }
    return known = add(std::move(function));
  }

  /// What has internal linkage has no linkage name in the DWARF, but the symbol table has one for its
  /// out-of-line copy.
  void note_symbol(NamedFunction& function, uint64_t vaddr) {
    if (!function.linkage.empty() || name_bytes_left_ == 0) return;
    const CodeRange* range = code_.find({vaddr});
    if (!range || range->name.empty()) return;
    const bool whole = range->name == function.name;
    const std::string_view symbol = whole ? range->name : without_clone_suffix(range->name);
    bool mangled = symbol.starts_with("_Z") || symbol.starts_with("_R");
    bool plainer = foreign_underscores(symbol) < foreign_underscores(function.name);
    if (mangled || plainer) set_linkage(function, symbol);
    function.linkage = symbol;
    afford(bytes_of(function));
  }

  /// `symbol` is of the file. Neighbours in a damaged one may share a name that takes long to demangle.
  void set_linkage(NamedFunction& function, std::string_view symbol, std::string_view suffix = {}) {
    if (name_bytes_left_ == 0) return;  // add() names it by its address
    if (symbol != demangled_symbol_) demangled_ = demangle(demangled_symbol_ = symbol);
    function.linkage = fmt::format("{}{}", symbol, suffix);
    function.name = fmt::format("{}{}", demangled_.full, suffix);
    function.short_form = fmt::format("{}{}", demangled_.short_form, suffix);
  }

  /// By symbol, PLT stub, unwind entry, or the gap between known functions.
  uint32_t code_function(uint64_t vaddr) {
    const CodeRange* range = code_.find({vaddr});
    if (!range || range->name.empty())
      if (auto stub = opened_.stub({vaddr})) return plt_function(*stub);
    uint64_t start = range ? range->low : gap_start(vaddr);
    const bool named = range && !range->name.empty();
    // By address, for names may be long, and shared. A function may lie in pieces around another one; its
    // first is the same.
    auto [known, fresh] =
        by_start_.try_emplace(fmt::format("{}{:x}", named ? "@" : "+", start), uint32_t(functions_.size()));
    if (!fresh) return known->second;
    NamedFunction function;
    function.identity = known->first;
    function.low = start;
    if (range) function.size = range->size;
    if (named) {
      function.source = vdso_ ? NameSource::kVdso : NameSource::kSymbolTable;
      set_linkage(function, range->name);
    } else {
      function.name = function.short_form = fmt::format("{}+0x{:x}", base_name_, start);
    }
    return add(std::move(function));
  }

  uint32_t plt_function(const PltStub& stub) {
    auto [known, fresh] =
        by_start_.try_emplace(fmt::format("plt{:x}+{:x}", stub.low, stub.size), uint32_t(functions_.size()));
    if (!fresh) return known->second;
    NamedFunction function;
    function.identity = known->first;
    set_linkage(function, stub.target, stub.suffix);
    function.low = stub.low;
    function.size = stub.size;
    function.source = NameSource::kPlt;
    return add(std::move(function));
  }

  /// Objects that threads wait for are data: a variable or a part of one. So are slots of the global offset
  /// table, which have names already.
  void name_variables(std::span<const uint64_t> vaddrs) {
    const ElfFile* layout = files_.layout();
    if (!layout) return;
    std::vector<VariablePart> parts;
    std::vector<uint64_t> places;
    CodeMap data;
    for (uint64_t vaddr : vaddrs) {
      if (!layout->section_at({vaddr}, SymbolKind::kData) || opened_.stub({vaddr})) continue;
      if (places.empty()) data = opened_.data();
      const CodeRange* range = data.find({vaddr});
      places.push_back(vaddr);
      parts.push_back({range ? range->low : vaddr, range ? vaddr - range->low : 0, {}, false});
    }
    const ElfFile* dwarf = lines_ && !parts.empty() ? files_.with_dwarf() : nullptr;
    if (dwarf) read_variable_parts(*dwarf, parts);
    for (size_t i = 0; i < parts.size(); ++i)
      variables_[places[i]] = add(variable_row(data.find({places[i]}), parts[i]));
  }

  NamedFunction variable_row(const CodeRange* range, const VariablePart& part) {
    NamedFunction row;
    row.low = part.variable + part.offset;
    if (range) {
      std::string rest = part.part;
      if (rest.empty() && part.offset != 0) rest = fmt::format("+0x{:x}", part.offset);
      row.source = NameSource::kSymbolTable;
      set_linkage(row, range->name);
      row.name += rest;
      row.short_form += rest;
    } else {
      row.name = row.short_form = fmt::format("{}+0x{:x}", base_name_, row.low);
    }
    row.identity = fmt::format("data\n{:x}", row.low);
    return row;
  }

  uint64_t gap_start(uint64_t vaddr) const {
    const Section* section = files_.layout() ? files_.layout()->code_at({vaddr}) : nullptr;
    uint64_t floor = section ? section->vaddr : code_start_ <= vaddr ? code_start_ : 0;
    return std::max(floor, code_.end_before({vaddr}));
  }

  static size_t bytes_of(const NamedFunction& function) {
    return function.identity.size() + function.linkage.size() + function.name.size() +
           function.short_form.size() + function.file.size();
  }

  /// Long names that many symbols of a damaged file share are not copied without end. The first that is too
  /// much is the last.
  bool afford(size_t bytes) {
    const bool enough = bytes < name_bytes_left_;
    name_bytes_left_ = enough ? name_bytes_left_ - bytes : 0;
    return enough;
  }

  uint32_t add(NamedFunction function) {
    if (!afford(bytes_of(function))) {
      function.name = function.short_form = fmt::format("{}+0x{:x}", base_name_, function.low);
      function.linkage.clear();
      function.file.clear();
    }
    functions_.push_back(std::move(function));
    return uint32_t(functions_.size() - 1);
  }

  std::string base_name_;
  uint64_t code_start_;
  bool vdso_;
  bool lines_;
  OpenedModule& opened_;
  const ModuleFile& files_;
  const CodeMap& code_;
  uint64_t name_bytes_left_ = 16 << 20;
  std::string_view demangled_symbol_;  // the last one
  Demangled demangled_;                // of it
  std::vector<NamedFunction> functions_;
  std::vector<NamedFrame> frames_;
  std::vector<uint32_t> source_functions_;  // SourceLines::functions -> functions_
  std::unordered_map<std::string, uint32_t> by_start_;
  std::unordered_map<uint64_t, uint32_t> variables_;  // vaddrs of data -> functions_
};

}  // namespace

ModuleNames name_module(OpenedModule& opened, const load::Module& module, uint64_t code_start,
                        std::span<const uint64_t> vaddrs, bool lines) {
  return Namer(opened, module, code_start, lines).name(vaddrs);
}

}  // namespace varve::symbol
