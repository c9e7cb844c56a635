// SPDX-License-Identifier: MIT
// DebugImage: the compressed debug sections of an ELF file as libdw is to read them: decompressed, into an
// ELF image of their own. libdw would decompress all there are, with zlib, into a heap block each, which took
// most of the lookup of a short run (of libc's debug file: 10 MB). Not a choice of files: module_file.h.
// Context: viewer; used by one thread at a time.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace varve::symbol {

class ElfFile;

class DebugImage {
 public:
  /// Null where libdw is to read the file itself: nothing is compressed, it refers to files that are found by
  /// its place, a section is damaged, packed otherwise than by zlib or unreasonably large.
  static std::unique_ptr<DebugImage> of(const ElfFile& file);
  ~DebugImage();
  DebugImage(const DebugImage&) = delete;
  DebugImage& operator=(const DebugImage&) = delete;

  Elf* elf() const { return elf_; }

 private:
  struct Part;
  explicit DebugImage(size_t bytes);
  bool fill(const ElfFile& file, std::span<const Part> parts);

  std::span<uint8_t> bytes_;  // mapped; empty: there was no memory
  Elf* elf_ = nullptr;
};

}  // namespace varve::symbol
