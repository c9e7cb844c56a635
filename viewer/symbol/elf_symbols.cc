// SPDX-License-Identifier: MIT
// Symbol tables to disjoint ranges. A hostile table costs no more than its own size: every list here has at
// most two entries a symbol. Context: viewer.
#include "viewer/symbol/elf_symbols.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "viewer/symbol/demangle.h"

namespace varve::symbol {
namespace {

int binding_rank(uint8_t binding) { return binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2; }

bool is_of(SymbolKind kind, const GElf_Sym& symbol) {
  unsigned type = GELF_ST_TYPE(symbol.st_info);
  if (kind == SymbolKind::kData) return type == STT_OBJECT && symbol.st_size > 0;
  return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

/// "memcpy@@GLIBC_2.14" is memcpy; what begins with "." or "$" is an assembler's local label.
std::string_view plain_name(const char* name) {
  // Many may be ends of one long text, and a longer name is not shown whole in any case.
  std::string_view text = name ? std::string_view(name, strnlen(name, kMaxLinkageName + 1)) : "";
  if (text.starts_with('.') || text.starts_with('$')) return {};
  return text.substr(0, text.find('@'));
}

/// One per start address: the best name, and the largest size any of its aliases has.
std::vector<CodeSymbol> without_aliases(std::vector<CodeSymbol> symbols) {
  std::sort(symbols.begin(), symbols.end(), [](const CodeSymbol& a, const CodeSymbol& b) {
    return a.start != b.start ? a.start < b.start : better_alias(a, b);
  });
  std::vector<CodeSymbol> unique;
  for (const CodeSymbol& symbol : symbols) {
    if (unique.empty() || unique.back().start != symbol.start)
      unique.push_back(symbol);
    else
      unique.back().size = std::max(unique.back().size, symbol.size);
  }
  return unique;
}

class Unnester {
 public:
  void open(const CodeSymbol& symbol, uint64_t end) {
    close_before(symbol.start);
    open_.push_back(
        {symbol.start, end, symbol.start, end - symbol.start, symbol.name, NameSource::kSymbolTable});
  }
  std::vector<CodeRange> finish() {
    close_before(UINT64_MAX);
    return std::move(done_);
  }

 private:
  /// Emits what of the open ranges lies below `limit`, the innermost first; each resumes where its inner one
  /// ended.
  void close_before(uint64_t limit) {
    while (!open_.empty()) {
      CodeRange& top = open_.back();
      emit(top, std::min(top.end, limit));
      if (top.end > limit) return;
      uint64_t end = top.end;
      open_.pop_back();
      if (!open_.empty()) open_.back().start = std::max(open_.back().start, end);
    }
  }
  void emit(CodeRange& range, uint64_t end) {
    if (range.start >= end) return;
    CodeRange part = range;
    part.end = end;
    done_.push_back(part);
    range.start = end;
  }

  std::vector<CodeRange> open_;
  std::vector<CodeRange> done_;
};

}  // namespace

size_t foreign_underscores(std::string_view name) {
  for (std::string_view known : {"_Z", "_R", "__vdso_"})
    if (name.starts_with(known)) return 0;
  size_t count = name.find_first_not_of('_');
  return count == std::string_view::npos ? name.size() : count;
}

bool better_alias(const CodeSymbol& a, const CodeSymbol& b) {
  auto key = [](const CodeSymbol& s) {
    return std::tuple(!s.typed, foreign_underscores(s.name), binding_rank(s.binding), s.name.size(), s.name);
  };
  return key(a) < key(b);
}

std::vector<CodeSymbol> read_symbols(const ElfFile& file, uint32_t section_type, SymbolKind kind) {
  std::vector<CodeSymbol> symbols;
  const Section* table = file.section_of_type(section_type);
  Elf_Data* data = table ? file.data(*table) : nullptr;
  if (!data) return symbols;
  GElf_Shdr shdr;
  gelf_getshdr(elf_getscn(file.elf(), table->index), &shdr);
  if (!file.has_strings(shdr.sh_link)) return symbols;
  std::vector<bool> wanted;
  for (const Section& section : file.sections()) {
    if (section.index >= wanted.size()) wanted.resize(section.index + 1);
    wanted[section.index] = kind == SymbolKind::kCode ? section.executable() : section.is_data();
  }
  size_t count = data->d_size / sizeof(Elf64_Sym);
  for (size_t i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (!gelf_getsym(data, int(i), &symbol) || !is_of(kind, symbol)) continue;
    if (symbol.st_shndx >= wanted.size() || !wanted[symbol.st_shndx]) continue;
    std::string_view name = plain_name(elf_strptr(file.elf(), shdr.sh_link, symbol.st_name));
    if (name.empty()) continue;
    symbols.push_back({symbol.st_value, symbol.st_size, name, uint8_t(GELF_ST_BIND(symbol.st_info)),
                       GELF_ST_TYPE(symbol.st_info) != STT_NOTYPE});
  }
  return symbols;
}

std::vector<CodeRange> ranges_of_symbols(std::vector<CodeSymbol> symbols, const ElfFile& file,
                                         SymbolKind kind) {
  symbols = without_aliases(std::move(symbols));
  Unnester unnester;
  const Section* section = nullptr;
  uint64_t covered =
      0;  // end of the sized functions so far: a label inside one is a place in it, not a function
  for (size_t i = 0; i < symbols.size(); ++i) {
    const CodeSymbol& symbol = symbols[i];
    if (!section || !section->contains(symbol.start)) section = file.section_at({symbol.start}, kind);
    if (!section || (symbol.size == 0 && symbol.start < covered)) continue;
    uint64_t limit = section->end();
    uint64_t next = i + 1 < symbols.size() ? std::min(symbols[i + 1].start, limit) : limit;
    uint64_t end = symbol.size == 0 ? next : symbol.start + std::min(symbol.size, limit - symbol.start);
    if (symbol.size) covered = std::max(covered, end);
    unnester.open(symbol, end);
  }
  return unnester.finish();
}

void CodeMap::add(std::span<const CodeRange> ranges) {
  std::vector<CodeRange> merged;
  merged.reserve(ranges_.size() + ranges.size());
  size_t old = 0;
  for (CodeRange range : ranges) {
    // What is there already stays; the new range fills the gaps it covers.
    while (old < ranges_.size() && ranges_[old].end <= range.start) merged.push_back(ranges_[old++]);
    for (; old < ranges_.size() && ranges_[old].start < range.end; ++old) {
      if (range.start < ranges_[old].start) {
        merged.push_back(range);
        merged.back().end = ranges_[old].start;
      }
      range.start = std::max(range.start, ranges_[old].end);
      if (ranges_[old].end > range.end) break;
      merged.push_back(ranges_[old]);
    }
    if (range.start < range.end) merged.push_back(range);
  }
  merged.insert(merged.end(), ranges_.begin() + ptrdiff_t(old), ranges_.end());
  ranges_ = std::move(merged);
}

const CodeRange* CodeMap::find(Address vaddr) const {
  auto after = std::upper_bound(ranges_.begin(), ranges_.end(), vaddr.value,
                                [](uint64_t value, const CodeRange& range) { return value < range.start; });
  if (after == ranges_.begin()) return nullptr;
  const CodeRange& range = *std::prev(after);
  return vaddr.value < range.end ? &range : nullptr;
}

uint64_t CodeMap::end_before(Address vaddr) const {
  auto after = std::upper_bound(ranges_.begin(), ranges_.end(), vaddr.value,
                                [](uint64_t value, const CodeRange& range) { return value < range.end; });
  return after == ranges_.begin() ? 0 : std::prev(after)->end;
}

}  // namespace varve::symbol
