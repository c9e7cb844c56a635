// SPDX-License-Identifier: MIT
// Extents by symbols, unwind entries or stubs; bytes by sections.
// Context: viewer.
#include "viewer/symbol/opened_module.h"

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

CodeMap code_map(const ModuleFile& files) {
  CodeMap map;
  if (!files.layout()) return map;
  map.add(ranges_by_symbols(files, SymbolKind::kCode));
  map.add(unwind_ranges(*files.layout()));
  return map;
}

}  // namespace

OpenedModule::OpenedModule(const load::Profile& profile, ModuleId id, const ResolveOptions& options,
                           Debuginfod* server)
    : files_(open_module(profile, id, options, server)), code_(code_map(files_)) {
  if (const ElfFile* layout = files_.layout()) plt_.emplace(*layout);
}

CodeMap OpenedModule::data() const {
  CodeMap map;
  if (files_.layout()) map.add(ranges_by_symbols(files_, SymbolKind::kData));
  return map;
}

std::optional<PltStub> OpenedModule::stub(Address vaddr) { return plt_ ? plt_->find(vaddr) : std::nullopt; }

std::optional<OpenedModule::Extent> OpenedModule::around(Address vaddr) {
  const Section* section = files_.main ? files_.main->code_at(vaddr) : nullptr;
  if (!section) return {};
  uint64_t low = 0, end = 0;
  const CodeRange* range = code_.find(vaddr);
  const auto stub_here = range && !range->name.empty() ? std::nullopt : stub(vaddr);
  if (stub_here) {
    low = stub_here->start, end = stub_here->end;
  } else if (range) {
    low = range->start, end = range->end;
  }
  const std::span<const uint8_t> bytes = files_.main->contents(*section);
  const bool inside = low >= section->vaddr && low < end && end - section->vaddr <= bytes.size();
  if (!inside) return {};
  return Extent{low, bytes.subspan(low - section->vaddr, end - low)};
}

uint64_t OpenedModule::bytes() const {
  uint64_t bytes = 0;
  for (const auto* file : {&files_.main, &files_.debug, &files_.mini})
    if (*file) bytes += (*file)->bytes();
  return bytes;
}

}  // namespace varve::symbol
