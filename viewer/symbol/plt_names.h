// SPDX-License-Identifier: MIT
// Names of PLT stubs: which function a stub jumps to is read from the stub itself and the relocation of the
// slot it jumps through, so .plt, .plt.sec and .plt.got, lazy or not, are one case. Context: viewer.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "viewer/symbol/elf_file.h"

namespace varve::symbol {

/// Its strings live as long as the file.
struct PltStub {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t low = 0;   // of all that has the name: the section, for stubs without one of their own
  uint64_t size = 0;  // likewise
  // Its name is "memcpy" "@plt", or "@got"; ".plt" "" for the header that calls the dynamic linker.
  std::string_view target, suffix;
};

class PltNames {
 public:
  explicit PltNames(const ElfFile& file) : file_(file) {}
  /// The stub that holds the address, or the slot of the global offset table through which calls go without
  /// a stub; nothing elsewhere.
  std::optional<PltStub> find(Address vaddr);

 private:
  void read_relocations();
  std::string_view target(const Section& section, uint64_t start, uint64_t size) const;

  const ElfFile& file_;
  bool read_ = false;
  // Names are those of the file: any number of relocations may share a long one.
  std::unordered_map<uint64_t, std::string_view> slots_;  // address of a GOT slot -> symbol
  std::vector<std::string_view> lazy_;  // symbols of .rela.plt in order: what a lazy stub pushes
};

}  // namespace varve::symbol
