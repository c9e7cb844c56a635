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
  std::string name;  // as /proc has it: a path, "pipe:[81]", "anon_inode:[eventfd]"; of a socket empty
  std::string flow;  // of a pipe, as agents tell it; else empty

  bool operator==(const SeenFile&) const = default;
};

/// Nothing for a call that waits for no descriptor, and where the kernel does not tell. It takes two system
/// calls, 3 us, and does not wait for a disk or a server.
std::optional<SeenFile> awaited_file(pid_t process, const SyscallLook& call);

}  // namespace varve::record::observe
