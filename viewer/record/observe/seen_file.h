// SPDX-License-Identifier: MIT
// What the descriptor is that a blocked thread waits for, asked from outside: the file that a read of the C
// library's own waits for, which no hook sees. Not sockets, of which only their process can tell the peer.
// Context: viewer, one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "viewer/record/observe/proc_text.h"

namespace varve::record::observe {

struct SeenFile {
  int32_t fd = -1;
  std::string name;  // as /proc has it: a path, "pipe:[81]", "anon_inode:[eventfd]"
  std::string flow;  // of a pipe without a path, as agents tell it; else empty

  bool operator==(const SeenFile&) const = default;
};

/// Nothing for a call that waits for no descriptor, for a socket, and where the kernel does not tell. It
/// takes one system call, 2 us, of a pipe another, and waits for no disk and no server: what a path leads to
/// is not asked, so a FIFO is taken for a file.
std::optional<SeenFile> awaited_file(pid_t process, pid_t thread, const SyscallLook& call);

}  // namespace varve::record::observe
