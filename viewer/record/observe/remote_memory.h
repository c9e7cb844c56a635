// SPDX-License-Identifier: MIT
// RemoteMemory: words of another process, for one look at it. Blocks are kept while the look lasts, and their
// number is bounded, whatever the process made of its stack.
// Context: viewer, one thread.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace varve::record::observe {

class RemoteMemory {
 public:
  explicit RemoteMemory(pid_t process) : process_(process) {}

  /// Copies `size` bytes from `address`, which need not be aligned. False: they are not all there, or too
  /// much was read already.
  bool copy(uint64_t address, void* to, size_t size);
  bool read(uint64_t address, uint64_t* value) { return copy(address, value, sizeof *value); }

  /// The kernel does not let this user read the process.
  bool refused() const { return refused_; }

 private:
  static constexpr size_t kBlockBytes = 1024;  // never crosses a page
  static constexpr size_t kBlocks = 8;
  static constexpr unsigned kMostReads = 64;  // of a block, each 0.8 us

  struct Block {
    uint64_t address = 1;  // a multiple of kBlockBytes, or 1: none
    std::array<uint8_t, kBlockBytes> bytes;
  };

  const Block* block(uint64_t address);

  pid_t process_;
  unsigned reads_ = 0;
  bool refused_ = false;
  std::array<Block, kBlocks> blocks_;
};

}  // namespace varve::record::observe
