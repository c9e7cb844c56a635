// SPDX-License-Identifier: MIT
// Copies, made by the kernel, of memory that another thread may unmap at any moment: a library's headers and
// unwind tables. A pc found on a stack may be left over from a call into a library (the middle of a throw
// shows the registers of the frame that is to catch), and such a library can go between the loader's answer
// and the read. What can be read no more is an error then, not a crash. For headers, and for unwind tables
// while the gate is closed (unload_gate.h). Context: signal.
#pragma once

#include <cstdint>

#include "common/cfi.h"

namespace varve::agent {

/// False: not all of it could be read; `to` may have been written to. 0.7 us. Where a filter of system calls
/// may forbid process_vm_readv, the pages are probed instead, and what goes right then still faults.
bool copy_by_kernel(uint64_t address, void* to, uint64_t size);

/// Reads such memory in order, a window at a time, whose bytes are somebody else's: what is read with a
/// larger one takes fewer system calls, and more room.
class WindowedCopy : public cfi::ByteSource {
 public:
  WindowedCopy(uint8_t* window, uint64_t bytes)
      : ByteSource{&WindowedCopy::copy}, window_(window), window_bytes_(bytes) {}
  WindowedCopy(const WindowedCopy&) = delete;
  WindowedCopy& operator=(const WindowedCopy&) = delete;

  /// Bytes by their address. It points here.
  cfi::Span span(uint64_t begin, uint64_t end) { return {begin, end, 0, this}; }

 private:
  static bool copy(ByteSource& self, uint64_t address, void* to, uint64_t size);
  bool read(uint64_t address, void* to, uint64_t size);
  bool holds(uint64_t address, uint64_t size) const {
    return address - begin_ < size_ && size_ - (address - begin_) >= size;
  }

  uint8_t* const window_;
  const uint64_t window_bytes_;
  uint64_t begin_ = 0, size_ = 0;
};

/// On the stack of a handler: most entries of unwind tables are shorter.
class KernelCopy : public WindowedCopy {
 public:
  KernelCopy() : WindowedCopy(bytes_, sizeof bytes_) {}

 private:
  uint8_t bytes_[192];
};

}  // namespace varve::agent
