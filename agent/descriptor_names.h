// SPDX-License-Identifier: MIT
// Names of descriptors that threads waited for: a path, a pipe's number, a socket's peer. Looked up after a
// wait that is recorded, and written when it is another one than the last for this number. Context: any
// thread of the target, its signal handlers included.
#pragma once

#include <cstdint>

namespace varve::agent {

/// Writes what `fd` is, of the time `time_ns`, unless that is known.
void note_descriptor(int fd, uint64_t time_ns);

/// What goes by a descriptor to somebody who may be seen to wait for it.
enum class Traffic : uint8_t {
  kNone,   // a file, a socket to another machine, or nobody may ask
  kPipe,   // a FIFO: who writes waits too, where it is full
  kOther,  // a connection within the machine, an eventfd
};
Traffic traffic_of(int fd);

/// Whether it is a socket with O_NONBLOCK set; false where nobody may ask.
bool is_nonblocking_socket(int fd);

/// At the start of a program: which pipes its standard input, output and error are. What it reads and writes
/// with the C library's streams no hook sees, so this says for which pipe it waits, and who may have written
/// to one.
void note_standard_pipes(uint64_t time_ns);

/// In the child of a fork: its file has none yet.
void forget_descriptor_names();

}  // namespace varve::agent
