// SPDX-License-Identifier: MIT
// The image: header, sections, their names, their headers. See debug_image.h.
// Context: viewer.
#include "viewer/symbol/debug_image.h"

#include <elf.h>
#include <libdeflate.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "viewer/symbol/elf_file.h"

namespace varve::symbol {
namespace {

/// What functions, lines and variables are read from. Lists of the places of variables are not, though they
/// are much of what there is.
constexpr std::string_view kRead[] = {".debug_info",        ".debug_types",    ".debug_abbrev",
                                      ".debug_line",        ".debug_line_str", ".debug_str",
                                      ".debug_str_offsets", ".debug_ranges",   ".debug_rnglists"};
/// Files that libdw finds by the place of this one, or through it: what dwz took out of it, what the compiler
/// split off.
constexpr std::string_view kElsewhere[] = {".gnu_debugaltlink", ".debug_addr"};

/// Debug information is packed to a quarter or a third. A claim beyond this is not worth its memory here.
constexpr uint64_t kMostRatio = 32;
constexpr uint64_t kMostBytes = 1 << 30;
constexpr size_t kAlignment = 16;
constexpr char kNamesSection[] = ".shstrtab";

size_t aligned(size_t size) { return (size + kAlignment - 1) / kAlignment * kAlignment; }

bool decompress(std::span<const uint8_t> packed, std::span<uint8_t> into) {
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> decompressor(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  // Without a place for the length it has to be this one.
  return decompressor && libdeflate_zlib_decompress(decompressor.get(), packed.data(), packed.size(),
                                                    into.data(), into.size(), nullptr) == LIBDEFLATE_SUCCESS;
}

}  // namespace

/// A section of the file, and what becomes of it.
struct DebugImage::Part {
  const Section* section;
  std::span<const uint8_t> contents;  // without the header of a compressed one
  bool packed;
  uint64_t size;  // in the image

  /// Nothing: not readable here.
  static std::optional<Part> of(const ElfFile& file, const Section& section) {
    Part part{&section, file.contents(section), (section.flags & SHF_COMPRESSED) != 0, 0};
    part.size = part.contents.size();
    if (!part.packed) return part;
    Elf64_Chdr header;
    if (part.contents.size() < sizeof header) return {};
    std::memcpy(&header, part.contents.data(), sizeof header);
    part.contents = part.contents.subspan(sizeof header);
    part.size = header.ch_size;
    const bool possible =
        header.ch_type == ELFCOMPRESS_ZLIB && part.size / kMostRatio <= part.contents.size();
    return possible ? std::optional(part) : std::nullopt;
  }
};

std::unique_ptr<DebugImage> DebugImage::of(const ElfFile& file) {
  if (std::ranges::any_of(kElsewhere, [&](std::string_view name) { return file.section(name); }))
    return nullptr;
  std::vector<Part> parts;
  size_t bytes = sizeof(Elf64_Ehdr), names = 1 + sizeof kNamesSection;
  bool packed = false;
  for (const std::string_view name : kRead) {
    const Section* section = file.section(name);
    if (!section) continue;
    const auto part = Part::of(file, *section);
    if (!part || part->size > kMostBytes) return nullptr;
    packed |= part->packed;
    bytes = aligned(bytes) + part->size;
    names += name.size() + 1;
    parts.push_back(*part);
  }
  bytes = aligned(bytes) + names;
  bytes = aligned(bytes) + (parts.size() + 2) * sizeof(Elf64_Shdr);
  if (!packed || bytes > kMostBytes) return nullptr;
  std::unique_ptr<DebugImage> image(new DebugImage(bytes));
  return image->fill(file, parts) ? std::move(image) : nullptr;
}

/// Pages all at once: one fault each costs as much as what is written to it. Of a large image, which may be
/// nothing but a claim, only as they are written.
DebugImage::DebugImage(size_t bytes) {
  constexpr size_t kMostAtOnce = 64 << 20;
  const int at_once = bytes <= kMostAtOnce ? MAP_POPULATE : 0;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | at_once, -1, 0);
  if (memory != MAP_FAILED) bytes_ = {static_cast<uint8_t*>(memory), bytes};
}

DebugImage::~DebugImage() {
  elf_end(elf_);
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

bool DebugImage::fill(const ElfFile& file, std::span<const Part> parts) {
  if (bytes_.empty()) return false;
  std::vector<Elf64_Shdr> headers(1);
  std::string names(1, '\0');
  size_t at = sizeof(Elf64_Ehdr);
  const auto add = [&](std::string_view name, uint32_t type, uint64_t flags, uint64_t size) {
    at = aligned(at);
    Elf64_Shdr header{};
    header.sh_name = Elf64_Word(names.size());
    header.sh_type = type;
    header.sh_flags = flags;
    header.sh_offset = at;
    header.sh_size = size;
    header.sh_addralign = 1;
    headers.push_back(header);
    names.append(name).push_back('\0');
    at += size;
    return bytes_.subspan(header.sh_offset, size);
  };
  for (const Part& part : parts) {
    const auto into =
        add(part.section->name, SHT_PROGBITS, part.section->flags & ~uint64_t{SHF_COMPRESSED}, part.size);
    if (!part.packed)
      std::ranges::copy(part.contents, into.begin());
    else if (!decompress(part.contents, into))
      return false;
  }
  const auto name_bytes = add(kNamesSection, SHT_STRTAB, 0, names.size() + sizeof kNamesSection);
  std::ranges::copy(names, name_bytes.begin());

  Elf64_Ehdr header;
  std::memcpy(&header, elf64_getehdr(file.elf()), sizeof header);
  at = aligned(at);
  header.e_phnum = 0;
  header.e_phoff = 0;
  header.e_shoff = at;
  header.e_shnum = Elf64_Half(headers.size());
  header.e_shstrndx = Elf64_Half(headers.size() - 1);
  std::memcpy(bytes_.data(), &header, sizeof header);
  std::memcpy(bytes_.data() + at, headers.data(), headers.size() * sizeof(Elf64_Shdr));
  elf_ = elf_memory(reinterpret_cast<char*>(bytes_.data()), bytes_.size());
  return elf_ != nullptr;
}

}  // namespace varve::symbol
