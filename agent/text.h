// SPDX-License-Identifier: MIT
// Small text work without allocation: paths put together, one-line files of /proc read.
// Context: any thread of the target, vfork children included.
#pragma once

#include <cstddef>
#include <cstdint>

namespace varve::agent {

/// Builds text in a caller's buffer. What does not fit is cut, and overflowed() says so.
class TextBuilder {
 public:
  TextBuilder(char* buffer, size_t capacity) : buffer_(buffer), capacity_(capacity) { buffer_[0] = 0; }

  TextBuilder& add(const char* text);
  TextBuilder& add(uint64_t number);
  bool overflowed() const { return overflowed_; }
  size_t size() const { return size_; }

 private:
  void put(char c);

  char* buffer_;
  size_t capacity_;
  size_t size_ = 0;
  bool overflowed_ = false;
};

/// Up to `capacity` bytes of a file; the count, or -errno.
long read_file(const char* path, char* buffer, size_t capacity);

/// The kernel's name of a thread of this process, NUL-terminated; unchanged where it is gone.
void read_thread_name(int tid, char* name, size_t capacity);

}  // namespace varve::agent
