// SPDX-License-Identifier: MIT
// ElfFile: one opened x86-64 ELF image, from disk or from memory, with the few facts the symbol readers ask
// for. What is not a little-endian 64-bit x86-64 executable, shared object or debug file is refused here,
// with a reason. Not a symbol table: elf_symbols.h reads that. Not the choice of the file: module_file.h.
// Context: viewer; used by one thread at a time, as libelf's handles are.
#pragma once

#include <elfutils/libdw.h>
#include <libelf.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "common/units.h"

namespace varve::symbol {

/// A section that takes up addresses or holds data. `end()` never wraps.
struct Section {
  std::string name;
  uint64_t vaddr = 0;
  uint64_t size = 0;
  uint64_t entry_size = 0;
  uint64_t flags = 0;
  uint32_t type = 0;
  size_t index = 0;

  uint64_t end() const { return vaddr > UINT64_MAX - size ? UINT64_MAX : vaddr + size; }
  bool contains(uint64_t address) const { return address >= vaddr && address < end(); }
  bool executable() const;
  /// Of the program's memory, the same for all threads, and no code.
  bool is_data() const;
};

class DebugImage;

/// What a symbol stands for.
enum class SymbolKind : bool { kCode, kData };

class ElfFile {
 public:
  /// Errors are clauses: "cannot be opened: No such file or directory", "is no ELF file".
  static tl::expected<ElfFile, std::string> open(const std::string& path);
  static tl::expected<ElfFile, std::string> from_memory(std::vector<uint8_t> image);

  Elf* elf() const { return handle_.get(); }
  const std::string& path() const { return path_; }
  uint64_t bytes() const { return bytes_; }
  /// Its last change, since the epoch; zero: not of a file.
  Nanos modified() const { return modified_; }
  const std::vector<uint8_t>& build_id() const { return build_id_; }

  std::span<const Section> sections() const { return sections_; }
  /// First section of that name with contents; nothing if there is none.
  const Section* section(std::string_view name) const;
  const Section* section_of_type(uint32_t type) const;
  /// The section of code, or of data, that holds the address.
  const Section* section_at(Address vaddr, SymbolKind kind) const;
  const Section* code_at(Address vaddr) const { return section_at(vaddr, SymbolKind::kCode); }
  /// The bytes as they are in the file; empty for SHT_NOBITS and for a section that lies outside the file.
  std::span<const uint8_t> contents(const Section& section) const;
  /// Whether that section is one of texts whose last one ends: of another each look reads all of it.
  bool has_strings(size_t index) const;
  Elf_Data* data(const Section& section) const;
  bool has_dwarf() const;
  /// Its debug information, opened once: that takes as long as all of it needs to be decompressed. Null if it
  /// has none.
  Dwarf* dwarf() const;

 private:
  ElfFile() = default;
  tl::expected<void, std::string> read_headers();
  void read_build_id();

  struct EndElf {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  struct EndDwarf {
    void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
  };
  struct EndImage {
    void operator()(DebugImage* image) const;
  };
  struct CloseFile {
    int fd = -1;
    CloseFile() = default;
    CloseFile(CloseFile&& other) noexcept : fd(other.fd) { other.fd = -1; }
    CloseFile& operator=(CloseFile&& other) noexcept;
    ~CloseFile();
  };

  std::string path_;
  uint64_t bytes_ = 0;
  Nanos modified_;
  std::vector<uint8_t> image_;  // from_memory only
  CloseFile file_;
  std::unique_ptr<Elf, EndElf> handle_;  // after what it reads from, so that it goes first
  mutable std::unique_ptr<DebugImage, EndImage> debug_image_;  // null: debug information is read as it lies
  mutable std::unique_ptr<Dwarf, EndDwarf> dwarf_;
  mutable bool dwarf_tried_ = false;
  std::vector<Section> sections_;
  std::vector<uint8_t> build_id_;
};

std::string hex(std::span<const uint8_t> bytes);

}  // namespace varve::symbol
