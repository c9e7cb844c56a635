// SPDX-License-Identifier: MIT
// The lines of /proc/self/maps, read with plain system calls and a buffer of the caller's. Context: signal.
#pragma once

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstdint>
#include <span>

#include "agent/signal/code_range.h"
#include "agent/signal/file_identity.h"
#include "agent/signal/raw_syscall.h"

namespace varve::agent {

/// One mapping. `inode` 0: no file is behind it.
struct MappedRange {
  CodeRange range;
  uint64_t offset = 0;  // of its first byte in the file
  uint64_t device = 0;
  uint64_t inode = 0;
  bool executable = false;

  bool same_file(const MappedRange& other) const { return inode == other.inode && device == other.device; }
};

/// Parses "begin-end perms offset major:minor inode   path", a character at a time: a path may be of any
/// length, and a read may end anywhere.
class MapsParser {
 public:
  /// True when `c` ended a line; it is then in line() until the next call.
  bool feed(char c) {
    if (c == '\n') {
      if (field_ == kInode) line_.inode = value_;
      ended_ = true;
      return true;
    }
    if (ended_) *this = {};
    if (c == ' ' && field_ < kPath) {
      end_field();
    } else if (c == '-' && field_ == kAddresses) {
      line_.range.begin = take();
    } else if (c == ':' && field_ == kDevice) {
      line_.device = take() << 32;
    } else if (field_ == kPermissions) {
      line_.executable |= c == 'x';
    } else if (field_ < kPath) {
      value_ = value_ * (field_ == kInode ? 10 : 16) + digit(c);
    }
    return false;
  }
  const MappedRange& line() const { return line_; }

 private:
  enum Field { kAddresses, kPermissions, kOffset, kDevice, kInode, kPath };

  static uint64_t digit(char c) { return uint64_t(c <= '9' ? c - '0' : c - 'a' + 10); }
  uint64_t take() {
    const uint64_t value = value_;
    value_ = 0;
    return value;
  }
  void end_field() {
    if (field_ == kAddresses) line_.range.end = take();
    if (field_ == kOffset) line_.offset = take();
    if (field_ == kDevice) line_.device |= take();
    if (field_ == kInode) line_.inode = take();
    field_ = Field(field_ + 1);
  }

  MappedRange line_;
  uint64_t value_ = 0;
  Field field_ = kAddresses;
  bool ended_ = false;
};

/// What is read of a map: some 3500 mappings, 3 ms. A program that is stopped for longer would feel it.
inline constexpr long kMostMapBytes = 256 << 10;

/// Opens the kernel's map of this process; a negative error where something else stands there, in a chroot.
/// Waits for nothing.
inline long open_map() {
  constexpr long kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY;
  const long fd = raw_syscall(__NR_open, as_arg("/proc/self/maps"), kFlags);
  struct statfs system {};
  if (failed(fd)) return fd;
  if (raw_syscall(__NR_fstatfs, fd, as_arg(&system)) == 0 && system.f_type == PROC_SUPER_MAGIC) return fd;
  raw_syscall(__NR_close, fd);
  return -ENOENT;
}

/// Calls `visit(const MappedRange&)` for each mapping of this process, by address; for none where /proc
/// cannot be read, and not for what is beyond kMostMapBytes.
template <typename Visit>
void each_mapping(std::span<char> buffer, const Visit& visit) {
  const long fd = open_map();
  if (failed(fd)) return;
  const FileIdentity map(fd);
  MapsParser parser;
  for (long all = 0; all < kMostMapBytes;) {
    // Another thread may close all descriptors meanwhile and open a pipe: from that pread takes nothing.
    const long size = raw_syscall(__NR_pread64, fd, as_arg(buffer.data()), long(buffer.size()), all);
    if (size <= 0) break;
    all += size;
    for (const char c : buffer.first(size_t(size)))
      if (parser.feed(c)) visit(parser.line());
  }
  close_if(fd, map);
}

}  // namespace varve::agent
