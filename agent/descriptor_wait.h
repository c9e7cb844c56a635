// SPDX-License-Identifier: MIT
// Calls of hooks that may wait for a descriptor. Whether one will wait cannot be asked, so all are timed, and
// only those as long as a wait with a stack count: a read that came back at once was none. Who waits at the
// other end, in whatever process, nobody can ask either; but nobody waits long for what comes often. So a
// transfer is recorded as a release if it is by a pipe, a connection within the machine or an eventfd, some
// time after the last one there, at a bounded rate. Context: any thread of the target, its signal handlers
// included.
#pragma once

#include <poll.h>

#include "agent/nonblocking.h"
#include "agent/wait_trace.h"

namespace varve::agent {

enum class Way : uint8_t { kIn, kOut };

/// The object of a wait for the descriptor, and of the waits at its other end that a transfer ends.
inline uint64_t awaited_by(int fd, Way way) {
  return uint64_t(unsigned(fd)) | (way == Way::kOut ? format::kToSend : 0);
}
inline uint64_t released_by(int fd, Way way) {
  return awaited_by(fd, way == Way::kOut ? Way::kIn : Way::kOut);
}

/// The calling thread has got `bytes` from a descriptor or given it so many, by a call that began then and
/// took so long.
void note_transfer(int fd, Way way, uint64_t bytes, uint64_t begin_ns, uint64_t took_ns);

/// For the calls that come.
void ask_whether_it_waits(int fd, uint64_t now_ns);
/// Whether there is nothing to see of a transfer: it cannot wait, and is none to be noted now.
bool is_of_no_interest(int fd, Way way);

template <typename Call>
auto with_descriptor(int fd, Call call) {
  Waiting waiting(format::ObjectKind::kDescriptor, awaited_by(fd, Way::kIn), Asked::kNo);
  return call();
}

template <typename Call>
auto transferred(int fd, Way way, Call call) {
  if (nonblocking.may_hold(fd) && is_of_no_interest(fd, way)) return call();
  Waiting waiting(format::ObjectKind::kDescriptor, awaited_by(fd, way), Asked::kNo);
  const auto result = call();
  const uint64_t begin_ns = waiting.begin_ns();
  const uint64_t took_ns = waiting.end();
  if (begin_ns == 0) return result;
  if (nonblocking.is_unknown(fd, begin_ns)) ask_whether_it_waits(fd, begin_ns);
  if (result > 0) note_transfer(fd, way, uint64_t(result), begin_ns, took_ns);
  return result;
}

/// By which the program gets something; and gives something away.
template <typename Call>
auto received(int fd, Call call) {
  return transferred(fd, Way::kIn, call);
}
template <typename Call>
auto sent(int fd, Call call) {
  return transferred(fd, Way::kOut, call);
}

/// Of those that are ready the first; where none is, the first of all.
inline uint64_t awaited_by_poll(const pollfd* fds, nfds_t count) {
  const pollfd* ready = fds;
  while (ready != fds + count && ready->revents == 0) ++ready;
  if (ready == fds + count) return uint64_t(unsigned(fds->fd));
  return awaited_by(ready->fd, ready->revents & (POLLIN | POLLHUP) ? Way::kIn : Way::kOut);
}

/// Until the kernel has found the descriptors readable a poll is for none that is known.
template <typename Call>
int polled(const pollfd* fds, nfds_t count, Call call) {
  Waiting waiting(polls(count != 0), Asked::kNo);
  const int result = waiting.found_ready(call());
  if (result >= 0 && count != 0) waiting.was_for(awaited_by_poll(fds, count));
  return result;
}

}  // namespace varve::agent
