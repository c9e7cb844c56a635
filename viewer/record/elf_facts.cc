// SPDX-License-Identifier: MIT
// Reads the headers of a program with libelf. See elf_facts.h.
// Context: viewer.
#include "viewer/record/elf_facts.h"

#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "viewer/record/host_facts.h"

namespace varve::record {
namespace {

constexpr size_t kMostDynamicEntries = 4096;
constexpr size_t kMostSymbols = 1'000'000;

struct OpenElf {
  int descriptor = -1;
  Elf* elf = nullptr;

  explicit OpenElf(const std::string& path) {
    elf_version(EV_CURRENT);
    descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor >= 0) elf = elf_begin(descriptor, ELF_C_READ, nullptr);
  }
  ~OpenElf() {
    if (elf) elf_end(elf);
    if (descriptor >= 0) close(descriptor);
  }
  OpenElf(const OpenElf&) = delete;
  OpenElf& operator=(const OpenElf&) = delete;
};

std::vector<GElf_Phdr> program_headers(Elf* elf) {
  size_t count = 0;
  std::vector<GElf_Phdr> headers;
  if (elf_getphdrnum(elf, &count) != 0) return headers;
  for (size_t i = 0; i < count && i < UINT16_MAX; ++i)
    if (GElf_Phdr header; gelf_getphdr(elf, int(i), &header)) headers.push_back(header);
  return headers;
}

/// The kernel maps pages past the end of the file all the same, and the program dies of SIGBUS in them.
bool ends_early(int descriptor, const std::vector<GElf_Phdr>& headers) {
  constexpr uint64_t kPage = 4096;
  struct stat file;
  if (fstat(descriptor, &file) != 0) return false;
  const uint64_t size = (uint64_t(file.st_size) + kPage - 1) / kPage * kPage;  // the rest of a page is zero
  return std::ranges::any_of(headers, [size](const GElf_Phdr& header) {
    return header.p_type == PT_LOAD && (header.p_offset > size || header.p_filesz > size - header.p_offset);
  });
}

/// Text that ends with a NUL within `data`.
std::string text_at(const Elf_Data* data, size_t offset) {
  if (!data || offset >= data->d_size) return "";
  const char* first = static_cast<const char*>(data->d_buf) + offset;
  return std::string(first, strnlen(first, data->d_size - offset));
}

std::optional<uint64_t> file_offset(const std::vector<GElf_Phdr>& headers, uint64_t address) {
  for (const GElf_Phdr& header : headers)
    if (header.p_type == PT_LOAD && address >= header.p_vaddr && address - header.p_vaddr < header.p_filesz)
      return header.p_offset + (address - header.p_vaddr);
  return {};
}

/// DT_NEEDED by the program headers alone: section headers may have been stripped.
std::vector<std::string> needed_libraries(Elf* elf, const std::vector<GElf_Phdr>& headers,
                                          const GElf_Phdr& dynamic) {
  Elf_Data* data = elf_getdata_rawchunk(elf, int64_t(dynamic.p_offset), dynamic.p_filesz, ELF_T_DYN);
  if (!data) return {};
  std::vector<uint64_t> names;
  uint64_t strings = 0, strings_size = 0;
  GElf_Dyn entry;
  for (size_t i = 0; i < kMostDynamicEntries && gelf_getdyn(data, int(i), &entry) && entry.d_tag != DT_NULL;
       ++i) {
    if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
    if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) strings_size = entry.d_un.d_val;
  }
  auto offset = file_offset(headers, strings);
  if (!offset || names.empty()) return {};
  Elf_Data* texts = elf_getdata_rawchunk(elf, int64_t(*offset), strings_size, ELF_T_BYTE);
  std::vector<std::string> libraries;
  for (uint64_t name : names)
    if (std::string library = text_at(texts, name); !library.empty()) libraries.push_back(std::move(library));
  return libraries;
}

/// Whether the bytes stand in this part of the file. Read in pieces: the names of node's symbols are five
/// megabytes, and a mapping of a file that shrinks is a fault.
bool holds(int descriptor, const GElf_Shdr& section, std::string_view wanted) {
  constexpr size_t kPiece = 1 << 16;
  std::vector<char> piece(kPiece);
  size_t kept = 0;  // of the piece before, at the begin: what is wanted may lie across
  for (uint64_t done = 0; done < section.sh_size;) {
    const size_t rest = std::min<uint64_t>(kPiece - kept, section.sh_size - done);
    const ssize_t got = pread(descriptor, piece.data() + kept, rest, off_t(section.sh_offset + done));
    if (got <= 0) return false;
    const size_t size = kept + size_t(got);
    if (memmem(piece.data(), size, wanted.data(), wanted.size())) return true;
    kept = std::min(size, wanted.size() - 1);
    std::memmove(piece.data(), piece.data() + size - kept, kept);
    done += uint64_t(got);
  }
  return false;
}

/// Programs have up to a hundred thousand dynamic symbols, and few have one of these.
bool names_sanitizers(const OpenElf& file, const GElf_Shdr& symbols) {
  GElf_Shdr names;
  Elf_Scn* section = elf_getscn(file.elf, symbols.sh_link);
  return section && gelf_getshdr(section, &names) && holds(file.descriptor, names, "san_init");
}

void look_at_symbols(Elf_Scn* section, const GElf_Shdr& header, const OpenElf& file, ElfFacts& facts) {
  if (!header.sh_entsize || !names_sanitizers(file, header)) return;
  Elf_Data* data = elf_getdata(section, nullptr);
  if (!data) return;
  size_t count = std::min<size_t>(data->d_size / header.sh_entsize, kMostSymbols);
  for (size_t i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (!gelf_getsym(data, int(i), &symbol) || symbol.st_shndx == SHN_UNDEF) continue;
    const char* name = elf_strptr(file.elf, header.sh_link, symbol.st_name);
    if (!name || name[0] != '_') continue;
    facts.defines_asan |= std::strcmp(name, "__asan_init") == 0;
    facts.defines_tsan |= std::strcmp(name, "__tsan_init") == 0;
    facts.defines_msan |= std::strcmp(name, "__msan_init") == 0;
  }
}

void look_at_sections(const OpenElf& file, ElfFacts& facts) {
  size_t names = 0;
  if (elf_getshdrstrndx(file.elf, &names) != 0) return;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(file.elf, section));) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header)) continue;
    const char* name = elf_strptr(file.elf, names, header.sh_name);
    std::string_view text = name ? name : "";
    facts.go |= text == ".go.buildinfo" || text == ".note.go.buildid" || text == ".gopclntab";
    if (header.sh_type == SHT_DYNSYM) look_at_symbols(section, header, file, facts);
  }
}

}  // namespace

bool ElfFacts::needs(std::string_view library_prefix) const {
  return std::any_of(needed.begin(), needed.end(),
                     [&](const std::string& name) { return name.starts_with(library_prefix); });
}

bool is_elf(const std::string& path) { return small_file(path, SELFMAG) == std::string(ELFMAG, SELFMAG); }

tl::expected<ElfFacts, std::string> read_elf_facts(const std::string& path) {
  OpenElf file(path);
  GElf_Ehdr header;
  if (!file.elf || elf_kind(file.elf) != ELF_K_ELF || !gelf_getehdr(file.elf, &header))
    return tl::unexpected(std::string("is a damaged ELF file"));
  ElfFacts facts;
  facts.bits = header.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
  facts.little_endian = header.e_ident[EI_DATA] == ELFDATA2LSB;
  facts.type = header.e_type;
  facts.machine = header.e_machine;
  std::vector<GElf_Phdr> headers = program_headers(file.elf);
  const bool headers_missing = header.e_phnum != PN_XNUM && headers.size() < header.e_phnum;
  if (headers_missing || ends_early(file.descriptor, headers))
    return tl::unexpected(std::string("is cut short"));
  for (const GElf_Phdr& segment : headers) {
    if (segment.p_type == PT_INTERP)
      facts.interpreter =
          text_at(elf_getdata_rawchunk(file.elf, int64_t(segment.p_offset), segment.p_filesz, ELF_T_BYTE), 0);
    if (segment.p_type != PT_DYNAMIC) continue;
    facts.dynamic = true;
    facts.needed = needed_libraries(file.elf, headers, segment);
  }
  look_at_sections(file, facts);
  return facts;
}

}  // namespace varve::record
