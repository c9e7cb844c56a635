// SPDX-License-Identifier: MIT
// Input and output: plain calls that may wait for a descriptor; see descriptor_wait.h. Not here: the C
// library's own calls (fread, getline), which come past no hook; the observer sees those.
// Context: any thread of the target, its signal handlers included.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <initializer_list>

#include "agent/descriptor_wait.h"
#include "agent/epoll_members.h"
#include "agent/hooks.h"
#include "agent/real.h"

namespace varve::agent {

constinit EpollMembers epoll_members;

namespace {

using format::ObjectKind;

Real<ssize_t(int, void*, size_t)> real_read{"read"};
Real<ssize_t(int, void*, size_t, size_t)> real_read_chk{"__read_chk"};
Real<ssize_t(int, const void*, size_t)> real_write{"write"};
Real<ssize_t(int, const iovec*, int)> real_readv{"readv"};
Real<ssize_t(int, const iovec*, int)> real_writev{"writev"};
Real<ssize_t(int, void*, size_t, int)> real_recv{"recv"};
Real<ssize_t(int, void*, size_t, size_t, int)> real_recv_chk{"__recv_chk"};
Real<ssize_t(int, void*, size_t, int, sockaddr*, socklen_t*)> real_recvfrom{"recvfrom"};
Real<ssize_t(int, void*, size_t, size_t, int, sockaddr*, socklen_t*)> real_recvfrom_chk{"__recvfrom_chk"};
Real<ssize_t(int, msghdr*, int)> real_recvmsg{"recvmsg"};
Real<ssize_t(int, const void*, size_t, int)> real_send{"send"};
Real<ssize_t(int, const void*, size_t, int, const sockaddr*, socklen_t)> real_sendto{"sendto"};
Real<ssize_t(int, const msghdr*, int)> real_sendmsg{"sendmsg"};
Real<int(int, sockaddr*, socklen_t*)> real_accept{"accept"};
Real<int(int, sockaddr*, socklen_t*, int)> real_accept4{"accept4"};
Real<int(int, const sockaddr*, socklen_t)> real_connect{"connect"};
Real<int(int)> real_fsync{"fsync"};
Real<int(int)> real_fdatasync{"fdatasync"};
Real<int(pollfd*, nfds_t, int)> real_poll{"poll"};
Real<int(pollfd*, nfds_t, int, size_t)> real_poll_chk{"__poll_chk"};
Real<int(int, fd_set*, fd_set*, fd_set*, timeval*)> real_select{"select"};
Real<int(int, int, int, epoll_event*)> real_epoll_ctl{"epoll_ctl"};
Real<int(int, epoll_event*, int, int)> real_epoll_wait{"epoll_wait"};

/// The first of the sets that has a descriptor, once the kernel has found them readable.
uint64_t first_ready(int count, std::initializer_list<const fd_set*> sets) {
  const int most = count < FD_SETSIZE ? count : FD_SETSIZE;
  for (const fd_set* set : sets)
    for (int fd = 0; set && fd < most; ++fd)
      if (FD_ISSET(fd, set)) return uint64_t(fd);
  return format::kNoDescriptor;
}

}  // namespace

void resolve_io_hooks() {
  real_read.get(), real_read_chk.get(), real_write.get(), real_readv.get(), real_writev.get();
  real_recv.get(), real_recv_chk.get(), real_recvfrom.get(), real_recvfrom_chk.get(), real_recvmsg.get();
  real_send.get(), real_sendto.get(), real_sendmsg.get();
  real_accept.get(), real_accept4.get(), real_connect.get(), real_fsync.get(), real_fdatasync.get();
  real_poll.get(), real_poll_chk.get(), real_select.get(), real_epoll_ctl.get(), real_epoll_wait.get();
}

VARVE_HOOK ssize_t read(int fd, void* to, size_t size) {
  return received(fd, [=] { return real_read(fd, to, size); });
}
VARVE_HOOK ssize_t __read_chk(int fd, void* to, size_t size, size_t room) {
  return received(fd, [=] { return real_read_chk(fd, to, size, room); });
}
VARVE_HOOK ssize_t write(int fd, const void* from, size_t size) {
  return sent(fd, [=] { return real_write(fd, from, size); });
}
VARVE_HOOK ssize_t readv(int fd, const iovec* to, int count) {
  return received(fd, [=] { return real_readv(fd, to, count); });
}
VARVE_HOOK ssize_t writev(int fd, const iovec* from, int count) {
  return sent(fd, [=] { return real_writev(fd, from, count); });
}
VARVE_HOOK ssize_t recv(int fd, void* to, size_t size, int flags) {
  return received(fd, [=] { return real_recv(fd, to, size, flags); });
}
VARVE_HOOK ssize_t __recv_chk(int fd, void* to, size_t size, size_t room, int flags) {
  return received(fd, [=] { return real_recv_chk(fd, to, size, room, flags); });
}
VARVE_HOOK ssize_t recvfrom(int fd, void* to, size_t size, int flags, sockaddr* from, socklen_t* from_size) {
  return received(fd, [=] { return real_recvfrom(fd, to, size, flags, from, from_size); });
}
VARVE_HOOK ssize_t __recvfrom_chk(int fd, void* to, size_t size, size_t room, int flags, sockaddr* from,
                                  socklen_t* from_size) {
  return received(fd, [=] { return real_recvfrom_chk(fd, to, size, room, flags, from, from_size); });
}
VARVE_HOOK ssize_t recvmsg(int fd, msghdr* message, int flags) {
  return received(fd, [=] { return real_recvmsg(fd, message, flags); });
}
VARVE_HOOK ssize_t send(int fd, const void* from, size_t size, int flags) {
  return sent(fd, [=] { return real_send(fd, from, size, flags); });
}
VARVE_HOOK ssize_t sendto(int fd, const void* from, size_t size, int flags, const sockaddr* to,
                          socklen_t to_size) {
  return sent(fd, [=] { return real_sendto(fd, from, size, flags, to, to_size); });
}
VARVE_HOOK ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  return sent(fd, [=] { return real_sendmsg(fd, message, flags); });
}
VARVE_HOOK int accept(int fd, sockaddr* peer, socklen_t* size) {
  return with_descriptor(fd, [=] { return real_accept(fd, peer, size); });
}
VARVE_HOOK int accept4(int fd, sockaddr* peer, socklen_t* size, int flags) {
  return with_descriptor(fd, [=] { return real_accept4(fd, peer, size, flags); });
}
VARVE_HOOK int connect(int fd, const sockaddr* peer, socklen_t size) {
  return with_descriptor(fd, [=] { return real_connect(fd, peer, size); });
}
VARVE_HOOK int fsync(int fd) {
  return with_descriptor(fd, [=] { return real_fsync(fd); });
}
VARVE_HOOK int fdatasync(int fd) {
  return with_descriptor(fd, [=] { return real_fdatasync(fd); });
}

VARVE_HOOK int poll(pollfd* fds, nfds_t count, int timeout) {
  return polled(fds, count, [=] { return real_poll(fds, count, timeout); });
}
VARVE_HOOK int __poll_chk(pollfd* fds, nfds_t count, int timeout, size_t room) {
  return polled(fds, count, [=] { return real_poll_chk(fds, count, timeout, room); });
}
VARVE_HOOK int select(int count, fd_set* in, fd_set* out, fd_set* except, timeval* timeout) {
  const bool any = count > 0 && (in || out || except);
  Waiting waiting(polls(any), Asked::kNo);
  const int result = waiting.found_ready(real_select(count, in, out, except, timeout));
  if (any && result >= 0) waiting.was_for(first_ready(count, {in, out, except}));
  return result;
}
VARVE_HOOK int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  const int result = real_epoll_ctl(epoll, operation, fd, event);
  // The kernel has read it, so it can be read.
  if (result == 0 && (operation == EPOLL_CTL_ADD || operation == EPOLL_CTL_MOD))
    epoll_members.add(epoll, event->data.u64, fd);
  return result;
}
VARVE_HOOK int epoll_wait(int fd, epoll_event* events, int count, int timeout) {
  return waited_by_epoll(fd, events, [=] { return real_epoll_wait(fd, events, count, timeout); });
}

}  // namespace varve::agent
