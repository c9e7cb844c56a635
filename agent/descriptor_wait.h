// SPDX-License-Identifier: MIT
// Calls of hooks that may wait for a descriptor. Whether one will wait cannot be asked, so all are timed, and
// only those as long as a wait with a stack count: a read that came back at once was none. Context: any
// thread of the target, its signal handlers included.
#pragma once

#include <poll.h>

#include "agent/wait_trace.h"

namespace varve::agent {

template <typename Call>
auto with_descriptor(int fd, Call call) {
  Waiting waiting(format::ObjectKind::kDescriptor, uint64_t(unsigned(fd)), Asked::kNo);
  return call();
}

/// By which the program gets something; and gives something away.
template <typename Call>
auto received(int fd, Call call) {
  return with_descriptor(fd, call);
}
template <typename Call>
auto sent(int fd, Call call) {
  return with_descriptor(fd, call);
}

/// Until the kernel has found the descriptors readable a poll is for none that is known.
template <typename Call>
int polled(const pollfd* fds, nfds_t count, Call call) {
  Waiting waiting(polls(count != 0), Asked::kNo);
  const int result = call();
  if (result >= 0 && count != 0) waiting.was_for(uint64_t(unsigned(fds->fd)));
  return result;
}

}  // namespace varve::agent
