// SPDX-License-Identifier: MIT
// See elf_image.h.
// Context: signal, agent start.
#include "agent/signal/elf_image.h"

#include <algorithm>
#include <cstring>

#include "agent/signal/kernel_copy.h"
#include "agent/signal/readable_page.h"

namespace varve::agent {
namespace {

constexpr uint32_t kGnu = 0x554e47;  // "GNU" and its NUL

constexpr uint64_t align4(uint64_t size) { return (size + 3) & ~uint64_t(3); }

void add_load_segment(const Elf64_Phdr& header, uint64_t bias, ElfImage& image) {
  uint64_t begin = header.p_vaddr + bias;
  uint64_t end = begin + header.p_memsz;
  // By pages, as the loader has it: it is by this start that a lookup's object is known.
  if (!image.end || begin < image.start) image.start = page_of(begin);
  if (end > image.end) image.end = end;
  if ((header.p_flags & PF_X) && image.code_count < ElfImage::kMaxRanges)
    image.code[image.code_count++] = {begin, end};
}

/// Notes are name and descriptor, each padded to four bytes after a header of three words (gABI, note
/// section).
void find_build_id(const Elf64_Phdr& header, uint64_t bias, WindowedCopy& bytes, ElfImage& image) {
  constexpr uint64_t kMost = 65536;  // of a forged size; an entry of zeros is twelve bytes of them
  const uint64_t begin = header.p_vaddr + bias;
  for (cfi::Cursor in(bytes.span(begin, begin + std::min<uint64_t>(header.p_memsz, kMost))); !in.empty();) {
    const auto note = in.read<Elf64_Nhdr>();
    cfi::Cursor name(in.take(align4(note.n_namesz))), descriptor(in.take(align4(note.n_descsz)));
    const bool is_build_id = note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof kGnu;
    if (!is_build_id || !in.ok() || note.n_descsz > ElfImage::kMaxBuildId) continue;
    if (name.read<uint32_t>() != kGnu) continue;
    for (uint32_t i = 0; i < note.n_descsz; ++i) image.build_id[i] = descriptor.read<uint8_t>();
    image.build_id_size = descriptor.ok() ? note.n_descsz : 0;
    return;
  }
}

}  // namespace

ProgramHeaders mapped_program_headers(uint64_t base, uint64_t mapped_bytes) {
  Elf64_Ehdr header;
  if (mapped_bytes < sizeof header || !copy_by_kernel(base, &header, sizeof header)) return {};
  const uint64_t end = header.e_phoff + uint64_t(header.e_phnum) * sizeof(Elf64_Phdr);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_phentsize != sizeof(Elf64_Phdr) ||
      header.e_phoff > mapped_bytes || end > mapped_bytes)
    return {};
  return {base + header.e_phoff, header.e_phnum};
}

bool read_program_headers(ProgramHeaders headers, uint64_t bias, WindowedCopy& bytes, ElfImage& image) {
  cfi::Cursor in(bytes.span(headers.address, headers.address + headers.count * sizeof(Elf64_Phdr)));
  while (!in.empty()) {
    const auto header = in.read<Elf64_Phdr>();
    if (header.p_type == PT_LOAD) add_load_segment(header, bias, image);
    if (header.p_type == PT_NOTE && !image.build_id_size) find_build_id(header, bias, bytes, image);
  }
  return in.ok();
}

}  // namespace varve::agent
