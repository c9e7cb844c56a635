// SPDX-License-Identifier: MIT
// Which file a descriptor is of. The agent keeps none, but while it has one another thread may close all
// numbers (close_range) and open a file of its own under ours. Context: signal, and any thread
// of the target.
#pragma once

#include <sys/stat.h>

#include <cstdint>

#include "agent/signal/raw_syscall.h"

namespace varve::agent {

struct FileIdentity {
  uint64_t device = 0, inode = 0;  // 0, 0: the kernel did not say

  FileIdentity() = default;
  explicit FileIdentity(long fd) {
    struct stat status {};
    if (failed(raw_syscall(__NR_fstat, fd, as_arg(&status)))) return;
    device = status.st_dev;
    inode = status.st_ino;
  }
  bool known() const { return inode != 0; }
  /// False: the descriptor is of another file for sure.
  bool may_be_of(long fd) const {
    const FileIdentity now(fd);
    return !known() || !now.known() || (now.device == device && now.inode == inode);
  }
};

/// Closes our own descriptor, and no file that the program has opened under its number.
inline void close_if(long fd, const FileIdentity& ours) {
  if (ours.may_be_of(fd)) raw_syscall(__NR_close, fd);
}

}  // namespace varve::agent
