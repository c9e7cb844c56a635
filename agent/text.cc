// SPDX-License-Identifier: MIT
// See text.h.
// Context: any thread of the target.
#include "agent/text.h"

#include <fcntl.h>

#include <cstring>

#include "agent/signal/file_identity.h"
#include "agent/signal/raw_syscall.h"

namespace varve::agent {

void TextBuilder::put(char c) {
  overflowed_ |= size_ + 1 >= capacity_;
  if (overflowed_) return;
  buffer_[size_++] = c;
  buffer_[size_] = 0;
}

TextBuilder& TextBuilder::add(const char* text) {
  while (*text) put(*text++);
  return *this;
}

TextBuilder& TextBuilder::add(uint64_t number) {
  char digits[21];
  char* at = digits + sizeof digits - 1;
  *at = 0;
  do *--at = char('0' + number % 10);
  while (number /= 10);
  return add(at);
}

long read_file(const char* path, char* buffer, size_t capacity) {
  long fd = raw_syscall(__NR_open, as_arg(path), O_RDONLY | O_CLOEXEC);
  if (failed(fd)) return fd;
  const FileIdentity opened(fd);
  size_t size = 0;
  long result = 0;
  while (size < capacity && (result = raw_syscall(__NR_pread64, fd, as_arg(buffer + size),
                                                  long(capacity - size), long(size))) > 0)
    size += size_t(result);
  close_if(fd, opened);
  return failed(result) ? result : long(size);
}

void read_thread_name(int tid, char* name, size_t capacity) {
  char path[64];
  TextBuilder(path, sizeof path).add("/proc/self/task/").add(uint64_t(tid)).add("/comm");
  char text[32];
  long size = read_file(path, text, sizeof text);
  if (size <= 0) return;
  size_t length = size_t(size) - (text[size - 1] == '\n' ? 1 : 0);
  if (length >= capacity) length = capacity - 1;
  std::memcpy(name, text, length);
  name[length] = 0;
}

}  // namespace varve::agent
