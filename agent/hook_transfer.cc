// SPDX-License-Identifier: MIT
// Input and output at a place of a file, of several messages, and between descriptors; plain calls are those
// of hook_io.cc. Of two descriptors the wait is for the one that the call names first. Context: any thread of
// the target, its signal handlers included.
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent/descriptor_wait.h"
#include "agent/hooks.h"
#include "agent/real.h"

namespace varve::agent {
namespace {

using ReadAt = ssize_t(int, void*, size_t, off64_t);
using CheckedReadAt = ssize_t(int, void*, size_t, off64_t, size_t);
using WriteAt = ssize_t(int, const void*, size_t, off64_t);
using VectorAt = ssize_t(int, const iovec*, int, off64_t);
using FlaggedVectorAt = ssize_t(int, const iovec*, int, off64_t, int);
using SendFile = ssize_t(int, int, off64_t*, size_t);

Real<ReadAt> real_pread{"pread"}, real_pread64{"pread64"};
Real<CheckedReadAt> real_pread_chk{"__pread_chk"}, real_pread64_chk{"__pread64_chk"};
Real<WriteAt> real_pwrite{"pwrite"}, real_pwrite64{"pwrite64"};
Real<VectorAt> real_preadv{"preadv"}, real_preadv64{"preadv64"};
Real<VectorAt> real_pwritev{"pwritev"}, real_pwritev64{"pwritev64"};
Real<FlaggedVectorAt> real_preadv2{"preadv2"}, real_preadv64v2{"preadv64v2"};
Real<FlaggedVectorAt> real_pwritev2{"pwritev2"}, real_pwritev64v2{"pwritev64v2"};
Real<SendFile> real_sendfile{"sendfile"}, real_sendfile64{"sendfile64"};
Real<ssize_t(int, off64_t*, int, off64_t*, size_t, unsigned)> real_splice{"splice"};
Real<ssize_t(int, int, size_t, unsigned)> real_tee{"tee"};
Real<int(int, mmsghdr*, unsigned, int, timespec*)> real_recvmmsg{"recvmmsg"};
Real<int(int, mmsghdr*, unsigned, int)> real_sendmmsg{"sendmmsg"};

}  // namespace

void resolve_transfer_hooks() {
  real_pread.get(), real_pread64.get(), real_pread_chk.get(), real_pread64_chk.get();
  real_pwrite.get(), real_pwrite64.get();
  real_preadv.get(), real_preadv64.get(), real_preadv2.get(), real_preadv64v2.get();
  real_pwritev.get(), real_pwritev64.get(), real_pwritev2.get(), real_pwritev64v2.get();
  real_sendfile.get(), real_sendfile64.get(), real_splice.get(), real_tee.get();
  real_recvmmsg.get(), real_sendmmsg.get();
}

VARVE_HOOK ssize_t pread(int fd, void* to, size_t size, off_t offset) {
  return received(fd, [=] { return real_pread(fd, to, size, offset); });
}
VARVE_HOOK ssize_t pread64(int fd, void* to, size_t size, off64_t offset) {
  return received(fd, [=] { return real_pread64(fd, to, size, offset); });
}
VARVE_HOOK ssize_t __pread_chk(int fd, void* to, size_t size, off_t offset, size_t room) {
  return received(fd, [=] { return real_pread_chk(fd, to, size, offset, room); });
}
VARVE_HOOK ssize_t __pread64_chk(int fd, void* to, size_t size, off64_t offset, size_t room) {
  return received(fd, [=] { return real_pread64_chk(fd, to, size, offset, room); });
}
VARVE_HOOK ssize_t pwrite(int fd, const void* from, size_t size, off_t offset) {
  return sent(fd, [=] { return real_pwrite(fd, from, size, offset); });
}
VARVE_HOOK ssize_t pwrite64(int fd, const void* from, size_t size, off64_t offset) {
  return sent(fd, [=] { return real_pwrite64(fd, from, size, offset); });
}
VARVE_HOOK ssize_t preadv(int fd, const iovec* to, int count, off_t offset) {
  return received(fd, [=] { return real_preadv(fd, to, count, offset); });
}
VARVE_HOOK ssize_t preadv64(int fd, const iovec* to, int count, off64_t offset) {
  return received(fd, [=] { return real_preadv64(fd, to, count, offset); });
}
VARVE_HOOK ssize_t preadv2(int fd, const iovec* to, int count, off_t offset, int flags) {
  return received(fd, [=] { return real_preadv2(fd, to, count, offset, flags); });
}
VARVE_HOOK ssize_t preadv64v2(int fd, const iovec* to, int count, off64_t offset, int flags) {
  return received(fd, [=] { return real_preadv64v2(fd, to, count, offset, flags); });
}
VARVE_HOOK ssize_t pwritev(int fd, const iovec* from, int count, off_t offset) {
  return sent(fd, [=] { return real_pwritev(fd, from, count, offset); });
}
VARVE_HOOK ssize_t pwritev64(int fd, const iovec* from, int count, off64_t offset) {
  return sent(fd, [=] { return real_pwritev64(fd, from, count, offset); });
}
VARVE_HOOK ssize_t pwritev2(int fd, const iovec* from, int count, off_t offset, int flags) {
  return sent(fd, [=] { return real_pwritev2(fd, from, count, offset, flags); });
}
VARVE_HOOK ssize_t pwritev64v2(int fd, const iovec* from, int count, off64_t offset, int flags) {
  return sent(fd, [=] { return real_pwritev64v2(fd, from, count, offset, flags); });
}

VARVE_HOOK ssize_t sendfile(int to, int from, off_t* offset, size_t size) noexcept {
  return sent(to, [=] { return real_sendfile(to, from, offset, size); });
}
VARVE_HOOK ssize_t sendfile64(int to, int from, off64_t* offset, size_t size) noexcept {
  return sent(to, [=] { return real_sendfile64(to, from, offset, size); });
}
VARVE_HOOK ssize_t splice(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t size,
                          unsigned flags) {
  return received(from, [=] { return real_splice(from, from_offset, to, to_offset, size, flags); });
}
VARVE_HOOK ssize_t tee(int from, int to, size_t size, unsigned flags) {
  return received(from, [=] { return real_tee(from, to, size, flags); });
}

VARVE_HOOK int recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags, timespec* timeout) {
  return received(fd, [=] { return real_recvmmsg(fd, messages, count, flags, timeout); });
}
VARVE_HOOK int sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags) {
  return sent(fd, [=] { return real_sendmmsg(fd, messages, count, flags); });
}

}  // namespace varve::agent
