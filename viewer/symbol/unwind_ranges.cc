// SPDX-License-Identifier: MIT
// libdw steps over the entries of .eh_frame; the two pointers at the head of each are decoded here, as the
// encoding of its CIE says (Linux Standard Base, DWARF extensions). One pass, no table besides the result.
// Context: viewer.
#include "viewer/symbol/unwind_ranges.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "common/bytes.h"

namespace varve::symbol {
namespace {

constexpr uint8_t kFormatMask = 0x0f;
constexpr uint8_t kApplyMask = 0x70;

/// A pointer of `encoding`, without what it is relative to.
uint64_t read_encoded(ByteView& view, uint8_t encoding) {
  switch (encoding & kFormatMask) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      return view.read<uint64_t>();
    case DW_EH_PE_uleb128:
      return view.read_varint();
    case DW_EH_PE_udata2:
      return view.read<uint16_t>();
    case DW_EH_PE_sdata2:
      return uint64_t(int64_t(view.read<int16_t>()));
    case DW_EH_PE_udata4:
      return view.read<uint32_t>();
    case DW_EH_PE_sdata4:
      return uint64_t(int64_t(view.read<int32_t>()));
    default:
      throw ParseError("has a pointer of an unknown encoding");
  }
}

/// The 'R' of a CIE's augmentation: how its entries spell their addresses.
uint8_t pointer_encoding(const Dwarf_CIE& cie) {
  std::string_view letters(cie.augmentation);
  ByteView data(std::span(cie.augmentation_data, cie.augmentation_data ? cie.augmentation_data_size : 0));
  for (char letter : letters) {
    if (letter == 'R') return data.read<uint8_t>();
    if (letter == 'L') data.skip(1);
    if (letter == 'P') read_encoded(data, data.read<uint8_t>());
  }
  return DW_EH_PE_absptr;
}

class UnwindReader {
 public:
  UnwindReader(const ElfFile& file, const Section& section)
      : section_(section), ident_(elf_getident(file.elf(), nullptr)) {
    if (Elf_Scn* scn = elf_getscn(file.elf(), section.index)) data_ = elf_rawdata(scn, nullptr);
  }

  std::vector<CodeRange> read() {
    if (!data_ || !data_->d_buf || !ident_) return {};
    Dwarf_CFI_Entry entry;
    Dwarf_Off next = 0;
    for (Dwarf_Off at = 0; dwarf_next_cfi(reinterpret_cast<const unsigned char*>(ident_), data_, true, at,
                                          &next, &entry) == 0 &&
                           next > at;
         at = next)
      if (!dwarf_cfi_cie_p(&entry)) add(entry.fde);
    return std::move(ranges_);
  }

 private:
  void add(const Dwarf_FDE& fde) {
    auto encoding = encoding_of(fde.CIE_pointer);
    if (!encoding) return;
    try {
      ByteView view(std::span(fde.start, size_t(fde.end - fde.start)));
      uint64_t place = section_.vaddr + uint64_t(fde.start - static_cast<const uint8_t*>(data_->d_buf));
      uint64_t start = read_encoded(view, *encoding);
      if ((*encoding & kApplyMask) == DW_EH_PE_pcrel) start += place;
      uint64_t size = read_encoded(view, *encoding & kFormatMask);
      if (size && start <= UINT64_MAX - size)
        ranges_.push_back({start, start + size, start, size, {}, NameSource::kAddress});
    } catch (const ParseError&) {
      // An entry that cannot be read covers nothing; the others still do.
    }
  }

  std::optional<uint8_t> encoding_of(Dwarf_Off cie) {
    auto [known, inserted] = encodings_.try_emplace(cie);
    if (!inserted) return known->second;
    Dwarf_CFI_Entry entry;
    Dwarf_Off next;
    if (dwarf_next_cfi(reinterpret_cast<const unsigned char*>(ident_), data_, true, cie, &next, &entry) != 0)
      return {};
    if (!dwarf_cfi_cie_p(&entry)) return {};
    try {
      return known->second = pointer_encoding(entry.cie);
    } catch (const ParseError&) {
      return {};
    }
  }

  const Section& section_;
  const char* ident_;
  Elf_Data* data_ = nullptr;
  std::unordered_map<Dwarf_Off, std::optional<uint8_t>> encodings_;
  std::vector<CodeRange> ranges_;
};

}  // namespace

std::vector<CodeRange> unwind_ranges(const ElfFile& file) {
  const Section* section = file.section(".eh_frame");
  if (!section) return {};
  std::vector<CodeRange> ranges = UnwindReader(file, *section).read();
  std::sort(ranges.begin(), ranges.end(), [](const CodeRange& a, const CodeRange& b) {
    return std::pair(a.start, a.end) < std::pair(b.start, b.end);
  });
  std::vector<CodeRange> disjoint;
  for (CodeRange& range : ranges) {
    if (!disjoint.empty()) range.start = std::max(range.start, disjoint.back().end);
    if (range.start < range.end) disjoint.push_back(range);
  }
  return disjoint;
}

}  // namespace varve::symbol
