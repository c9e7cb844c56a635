// SPDX-License-Identifier: MIT
// Opening an ELF image and reading its headers once, through libelf, which checks every offset against the
// file. Context: viewer.
#include "viewer/symbol/elf_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "viewer/load/regular_file.h"
#include "viewer/symbol/debug_image.h"

namespace varve::symbol {
namespace {

// A build id is 20 bytes (SHA-1) in practice; a note beyond this is no build id.
constexpr size_t kMaxBuildId = 64;

bool supported(const GElf_Ehdr& header) {
  bool machine = header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
                 header.e_machine == EM_X86_64;
  return machine && (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

std::vector<uint8_t> build_id_note(Elf_Data* notes) {
  GElf_Nhdr note;
  size_t name = 0, description = 0;
  for (size_t at = 0; (at = gelf_getnote(notes, at, &note, &name, &description)) > 0;) {
    const auto* base = static_cast<const uint8_t*>(notes->d_buf);
    bool gnu =
        note.n_namesz == sizeof ELF_NOTE_GNU && !std::memcmp(base + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU);
    if (gnu && note.n_type == NT_GNU_BUILD_ID && note.n_descsz <= kMaxBuildId)
      return {base + description, base + description + note.n_descsz};
  }
  return {};
}

}  // namespace

bool Section::executable() const { return (flags & SHF_EXECINSTR) && (flags & SHF_ALLOC); }

bool Section::is_data() const { return (flags & (SHF_ALLOC | SHF_EXECINSTR | SHF_TLS)) == SHF_ALLOC; }

ElfFile::CloseFile& ElfFile::CloseFile::operator=(CloseFile&& other) noexcept {
  std::swap(fd, other.fd);
  return *this;
}

ElfFile::CloseFile::~CloseFile() {
  if (fd >= 0) ::close(fd);
}

namespace {

/// Of a file just written some file systems (ZFS) count no blocks yet, but know where its first hole is.
bool begins_with_little(int descriptor, off_t size) {
  constexpr off_t kPart = 64;
  const off_t hole = lseek(descriptor, 0, SEEK_HOLE);
  return hole < size / kPart;
}

}  // namespace

tl::expected<ElfFile, std::string> ElfFile::open(const std::string& path) {
  elf_version(EV_CURRENT);
  ElfFile file;
  file.path_ = path;
  file.file_.fd = load::open_regular_file(path, true);
  if (file.file_.fd < 0)
    return tl::unexpected<std::string>(std::string("cannot be opened: ") + std::strerror(errno));
  struct stat info {};
  if (::fstat(file.file_.fd, &info) != 0)
    return tl::unexpected<std::string>(std::string("cannot be asked for its size: ") + std::strerror(errno));
  // What reading it may cost is a multiple of its size.
  if (load::is_mostly_holes(info) && begins_with_little(file.file_.fd, info.st_size))
    return tl::unexpected<std::string>("is mostly holes");
  file.bytes_ = uint64_t(info.st_size);
  file.modified_ = {uint64_t(info.st_mtim.tv_sec) * kNanosPerSecond.count + uint64_t(info.st_mtim.tv_nsec)};
  file.handle_.reset(elf_begin(file.file_.fd, ELF_C_READ_MMAP, nullptr));
  if (auto read = file.read_headers(); !read) return tl::unexpected<std::string>(read.error());
  return file;
}

tl::expected<ElfFile, std::string> ElfFile::from_memory(std::vector<uint8_t> image) {
  elf_version(EV_CURRENT);
  ElfFile file;
  file.image_ = std::move(image);
  file.bytes_ = file.image_.size();
  if (file.bytes_ < EI_NIDENT) return tl::unexpected<std::string>("is no ELF file");
  file.handle_.reset(elf_memory(reinterpret_cast<char*>(file.image_.data()), file.image_.size()));
  if (auto read = file.read_headers(); !read) return tl::unexpected<std::string>(read.error());
  return file;
}

tl::expected<void, std::string> ElfFile::read_headers() {
  GElf_Ehdr header;
  if (!handle_ || elf_kind(elf()) != ELF_K_ELF || !gelf_getehdr(elf(), &header))
    return tl::unexpected<std::string>("is no ELF file");
  if (!supported(header)) return tl::unexpected<std::string>("is not an x86-64 program or library");
  // Sections may overlap in a forged file, whose parts would be read again and again.
  constexpr size_t kMostSections = 4096, kMostSectionName = 256;
  size_t names = 0;
  uint64_t in_file = 0;
  if (elf_getshdrstrndx(elf(), &names) != 0) names = 0;
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf(), scn));) {
    GElf_Shdr shdr;
    if (!gelf_getshdr(scn, &shdr)) continue;
    const char* name = names ? elf_strptr(elf(), names, shdr.sh_name) : nullptr;
    const std::string_view known = name ? std::string_view(name, strnlen(name, kMostSectionName)) : "";
    const uint64_t size = shdr.sh_type == SHT_NOBITS ? 0 : shdr.sh_size;
    if (sections_.size() == kMostSections || size > 2 * bytes_ - in_file)
      return tl::unexpected<std::string>("has sections that no linker makes");
    in_file += size;
    sections_.push_back({std::string(known), shdr.sh_addr, shdr.sh_size, shdr.sh_entsize, shdr.sh_flags,
                         shdr.sh_type, elf_ndxscn(scn)});
  }
  read_build_id();
  return {};
}

void ElfFile::read_build_id() {
  for (const Section& section : sections_) {
    if (section.type != SHT_NOTE) continue;
    Elf_Data* notes = data(section);
    if (notes && notes->d_buf) build_id_ = build_id_note(notes);
    if (!build_id_.empty()) return;
  }
  size_t count = 0;
  if (elf_getphdrnum(elf(), &count) != 0) return;
  constexpr size_t kMostHeaders = 256;
  constexpr uint64_t kMostNoteBytes = 64 << 10;
  for (size_t i = 0; i < std::min(count, kMostHeaders) && build_id_.empty(); ++i) {
    GElf_Phdr phdr;
    if (!gelf_getphdr(elf(), int(i), &phdr) || phdr.p_type != PT_NOTE) continue;
    Elf_Data* notes = elf_getdata_rawchunk(elf(), int64_t(phdr.p_offset),
                                           std::min<uint64_t>(phdr.p_filesz, kMostNoteBytes), ELF_T_NHDR);
    if (notes && notes->d_buf) build_id_ = build_id_note(notes);
  }
}

const Section* ElfFile::section(std::string_view name) const {
  for (const Section& section : sections_)
    if (section.name == name && section.type != SHT_NOBITS) return &section;
  return nullptr;
}

const Section* ElfFile::section_of_type(uint32_t type) const {
  for (const Section& section : sections_)
    if (section.type == type) return &section;
  return nullptr;
}

const Section* ElfFile::section_at(Address vaddr, SymbolKind kind) const {
  for (const Section& section : sections_)
    if ((kind == SymbolKind::kCode ? section.executable() : section.is_data()) &&
        section.contains(vaddr.value))
      return &section;
  return nullptr;
}

Elf_Data* ElfFile::data(const Section& section) const {
  Elf_Scn* scn = section.type == SHT_NOBITS ? nullptr : elf_getscn(elf(), section.index);
  return scn ? elf_getdata(scn, nullptr) : nullptr;
}

bool ElfFile::has_strings(size_t index) const {
  const auto found = std::ranges::find(sections_, index, &Section::index);
  const auto text = found == sections_.end() ? std::span<const uint8_t>() : contents(*found);
  return !text.empty() && text.back() == 0;
}

std::span<const uint8_t> ElfFile::contents(const Section& section) const {
  Elf_Scn* scn = section.type == SHT_NOBITS ? nullptr : elf_getscn(elf(), section.index);
  Elf_Data* raw = scn ? elf_rawdata(scn, nullptr) : nullptr;
  if (!raw || !raw->d_buf) return {};
  return {static_cast<const uint8_t*>(raw->d_buf), raw->d_size};
}

bool ElfFile::has_dwarf() const { return section(".debug_info") || section(".zdebug_info"); }

Dwarf* ElfFile::dwarf() const {
  if (dwarf_tried_) return dwarf_.get();
  dwarf_tried_ = true;
  debug_image_.reset(DebugImage::of(*this).release());
  dwarf_.reset(dwarf_begin_elf(debug_image_ ? debug_image_->elf() : elf(), DWARF_C_READ, nullptr));
  if (!dwarf_) debug_image_.reset();
  return dwarf_.get();
}

void ElfFile::EndImage::operator()(DebugImage* image) const { delete image; }

std::string hex(std::span<const uint8_t> bytes) {
  std::string text;
  for (uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace varve::symbol
