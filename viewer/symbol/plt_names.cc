// SPDX-License-Identifier: MIT
// Stubs are decoded just far enough to find `jmp *slot(%rip)` or `push index`, the two forms that linkers
// emit for x86-64, with or without endbr64 and bnd prefixes. Context: viewer.
#include "viewer/symbol/plt_names.h"

#include <gelf.h>

#include <cstring>
#include <utility>

#include "common/bytes.h"
#include "viewer/symbol/demangle.h"

namespace varve::symbol {
namespace {

constexpr uint64_t kStubBytes = 16;
constexpr uint64_t kShortStubBytes = 8;  // .plt.got without endbr64

bool is_plt(const Section& section) {
  return section.executable() && (section.name == ".plt" || section.name.starts_with(".plt."));
}

uint64_t stub_bytes(const Section& section, std::span<const uint8_t> code) {
  if (section.entry_size == kStubBytes || section.entry_size == kShortStubBytes) return section.entry_size;
  bool short_form = section.name == ".plt.got" && code.size() >= 2 && code[0] == 0xff && code[1] == 0x25;
  return short_form ? kShortStubBytes : kStubBytes;
}

bool names_a_function(unsigned type) { return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT; }

PltStub stub_of(uint64_t start, uint64_t size, std::string_view target, std::string_view suffix) {
  return {start, start + size, start, size, target, suffix};
}

/// Name of symbol `index` of the table in section `table`, without its version.
std::string_view symbol_name(const ElfFile& file, size_t table, size_t index) {
  Elf* elf = file.elf();
  Elf_Scn* scn = elf_getscn(elf, table);
  Elf_Data* data = scn ? elf_getdata(scn, nullptr) : nullptr;
  GElf_Shdr shdr;
  GElf_Sym symbol;
  if (!data || index > INT32_MAX || !gelf_getshdr(scn, &shdr) || !gelf_getsym(data, int(index), &symbol) ||
      !file.has_strings(shdr.sh_link))
    return {};
  const char* name = elf_strptr(elf, shdr.sh_link, symbol.st_name);
  std::string_view text = name ? std::string_view(name, strnlen(name, kMaxLinkageName + 1)) : "";
  return text.substr(0, text.find('@'));
}

}  // namespace

void PltNames::read_relocations() {
  if (std::exchange(read_, true)) return;
  for (const Section& section : file_.sections()) {
    GElf_Shdr shdr;
    Elf_Data* data = section.type == SHT_RELA ? file_.data(section) : nullptr;
    if (!data || !gelf_getshdr(elf_getscn(file_.elf(), section.index), &shdr)) continue;
    bool lazy = section.name == ".rela.plt";
    size_t count = data->d_size / sizeof(Elf64_Rela);
    for (size_t i = 0; i < count; ++i) {
      GElf_Rela rela;
      if (!gelf_getrela(data, int(i), &rela)) break;
      bool named = names_a_function(unsigned(GELF_R_TYPE(rela.r_info)));
      if (!named && !lazy) continue;
      const std::string_view name = named ? symbol_name(file_, shdr.sh_link, GELF_R_SYM(rela.r_info)) : "";
      if (lazy) lazy_.push_back(name);
      if (!name.empty()) slots_.try_emplace(rela.r_offset, name);
    }
  }
}

std::string_view PltNames::target(const Section& section, uint64_t start, uint64_t size) const {
  std::span<const uint8_t> code = file_.contents(section);
  uint64_t offset = start - section.vaddr;
  if (offset > code.size() || code.size() - offset < size) return {};
  for (uint64_t i = 0; i + 5 < size; ++i) {
    ByteView at(code.subspan(offset + i, size - i));
    uint8_t opcode = at.read<uint8_t>();
    if (opcode == 0x68 && start != section.vaddr) {  // push imm32; the header pushes by another form
      uint32_t index = at.read<uint32_t>();
      return index < lazy_.size() ? lazy_[index] : std::string_view();
    }
    if (opcode != 0xff || at.peek<uint8_t>() != 0x25) continue;
    at.skip(1);
    auto slot = slots_.find(start + i + 6 + uint64_t(int64_t(at.read<int32_t>())));
    return slot == slots_.end() ? std::string_view() : slot->second;
  }
  return {};
}

std::optional<PltStub> PltNames::find(Address vaddr) {
  const Section* section = file_.code_at(vaddr);
  if (section && !is_plt(*section)) return {};
  read_relocations();
  if (!section) {
    auto slot = slots_.find(vaddr.value);
    if (slot == slots_.end()) return {};
    return stub_of(vaddr.value, sizeof(uint64_t), slot->second, "@got");
  }
  uint64_t size = stub_bytes(*section, file_.contents(*section));
  uint64_t start = vaddr.value - (vaddr.value - section->vaddr) % size;
  const std::string_view name = target(*section, start, size);
  if (name.empty()) return PltStub{start, start + size, section->vaddr, section->size, section->name, {}};
  return stub_of(start, size, name, "@plt");
}

}  // namespace varve::symbol
