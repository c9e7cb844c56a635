// SPDX-License-Identifier: MIT
// See elf_image.h.
// Context: signal, agent start.
#include "agent/signal/elf_image.h"

#include <cstring>

namespace varve::agent {
namespace {

constexpr uint64_t align4(uint64_t size) { return (size + 3) & ~uint64_t(3); }

void add_load_segment(const Elf64_Phdr& header, uint64_t bias, ElfImage& image) {
  uint64_t begin = header.p_vaddr + bias;
  uint64_t end = begin + header.p_memsz;
  if (!image.end || begin < image.start) image.start = begin;
  if (end > image.end) image.end = end;
  if ((header.p_flags & PF_X) && image.code_count < ElfImage::kMaxRanges)
    image.code[image.code_count++] = {begin, end};
}

/// Notes are name and descriptor, each padded to four bytes after a header of three words (gABI, note
/// section).
void find_build_id(const Elf64_Phdr& header, uint64_t bias, ElfImage& image) {
  const auto* at = reinterpret_cast<const uint8_t*>(header.p_vaddr + bias);
  uint64_t left = header.p_memsz;
  while (left >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, at, sizeof note);
    uint64_t size = sizeof note + align4(note.n_namesz) + align4(note.n_descsz);
    if (size > left) return;
    const uint8_t* descriptor = at + sizeof note + align4(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !std::memcmp(at + sizeof note, "GNU", 4) &&
        note.n_descsz <= ElfImage::kMaxBuildId) {
      image.build_id = descriptor;
      image.build_id_size = note.n_descsz;
      return;
    }
    at += size;
    left -= size;
  }
}

}  // namespace

void read_program_headers(const Elf64_Phdr* headers, uint32_t count, uint64_t bias, ElfImage& image) {
  for (uint32_t i = 0; i < count; ++i)
    if (headers[i].p_type == PT_LOAD) add_load_segment(headers[i], bias, image);
  for (uint32_t i = 0; i < count && !image.build_id; ++i)
    if (headers[i].p_type == PT_NOTE) find_build_id(headers[i], bias, image);
}

const Elf64_Phdr* mapped_program_headers(const void* base, uint64_t mapped_bytes, uint32_t& count) {
  const auto* header = static_cast<const Elf64_Ehdr*>(base);
  if (mapped_bytes < sizeof *header || std::memcmp(header->e_ident, ELFMAG, SELFMAG)) return nullptr;
  count = header->e_phnum;
  uint64_t end = header->e_phoff + uint64_t(count) * sizeof(Elf64_Phdr);
  if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phoff > mapped_bytes || end > mapped_bytes)
    return nullptr;
  return reinterpret_cast<const Elf64_Phdr*>(static_cast<const uint8_t*>(base) + header->e_phoff);
}

}  // namespace varve::agent
