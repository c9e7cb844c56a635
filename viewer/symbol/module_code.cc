// SPDX-License-Identifier: MIT
// Extents by symbols, unwind entries or stubs; bytes by sections.
// Context: viewer.
#include "viewer/symbol/module_code.h"

#include "viewer/symbol/unwind_ranges.h"

namespace varve::symbol {

namespace {

/// By all symbol tables of the files, where there is a layout.
std::vector<CodeRange> ranges_by_symbols(const ModuleFile& files, SymbolKind kind) {
  std::vector<CodeSymbol> symbols;
  const auto append = [&](const ElfFile& file, uint32_t table) {
    const std::vector<CodeSymbol> more = read_symbols(file, table, kind);
    symbols.insert(symbols.end(), more.begin(), more.end());
  };
  if (const ElfFile* table = files.with_symtab()) append(*table, SHT_SYMTAB);
  if (files.mini) append(*files.mini, SHT_SYMTAB);
  append(*files.layout(), SHT_DYNSYM);
  return ranges_of_symbols(std::move(symbols), *files.layout(), kind);
}

}  // namespace

CodeMap code_map(const ModuleFile& files) {
  CodeMap map;
  if (!files.layout()) return map;
  map.add(ranges_by_symbols(files, SymbolKind::kCode));
  map.add(unwind_ranges(*files.layout()));
  return map;
}

CodeMap data_map(const ModuleFile& files) {
  CodeMap map;
  if (files.layout()) map.add(ranges_by_symbols(files, SymbolKind::kData));
  return map;
}

ModuleCode::ModuleCode(const load::Module& module, const ResolveOptions& options)
    : files_(open_module(module, options, nullptr)) {
  if (!files_.main) return;
  map_ = code_map(files_);
  plt_.emplace(*files_.main);
}

std::optional<ModuleCode::Extent> ModuleCode::around(Address vaddr) {
  const Section* section = files_.main ? files_.main->code_at(vaddr) : nullptr;
  if (!section) return {};
  uint64_t low = 0, end = 0;
  const CodeRange* range = map_.find(vaddr);
  const auto stub = range && !range->name.empty() ? std::nullopt : plt_->find(vaddr);
  if (stub) {
    low = stub->start, end = stub->start + stub->size;
  } else if (range) {
    low = range->start, end = range->end;
  }
  const std::span<const uint8_t> bytes = files_.main->contents(*section);
  const bool inside = low >= section->vaddr && low < end && end - section->vaddr <= bytes.size();
  if (!inside) return {};
  return Extent{low, bytes.subspan(low - section->vaddr, end - low)};
}

}  // namespace varve::symbol
