// SPDX-License-Identifier: MIT
// Calls after which a number leads elsewhere, or to something that may wait now: what is known of it is
// forgotten, see nonblocking.h. fcntl's command is in hook_file_lock.cc. Context: any thread of the target,
// its signal handlers included; also in vfork children.
#include <sys/ioctl.h>
#include <unistd.h>

#include "agent/hooks.h"
#include "agent/nonblocking.h"
#include "agent/real.h"

namespace varve::agent {

constinit Nonblocking nonblocking;

namespace {

Real<int(int)> real_close{"close"};
Real<int(int, int)> real_dup2{"dup2"};
Real<int(int, int, int)> real_dup3{"dup3"};
Real<int(int, unsigned long, long)> real_ioctl{"ioctl"};

}  // namespace

void resolve_descriptor_hooks() { real_close.get(), real_dup2.get(), real_dup3.get(), real_ioctl.get(); }

VARVE_HOOK int close(int fd) {
  return nonblocking.changed(fd, [=] { return real_close(fd); });
}
VARVE_HOOK int dup2(int from, int to) noexcept {
  return nonblocking.changed(to, [=] { return real_dup2(from, to); });
}
VARVE_HOOK int dup3(int from, int to, int flags) noexcept {
  return nonblocking.changed(to, [=] { return real_dup3(from, to, flags); });
}
/// As with fcntl, whatever is in the register of the third argument is passed on.
VARVE_HOOK int control_device(int fd, unsigned long request, long argument) noexcept asm("ioctl");
int control_device(int fd, unsigned long request, long argument) noexcept {
  if (request != FIONBIO) [[likely]]
    return real_ioctl(fd, request, argument);
  return nonblocking.changed(fd, [=] { return real_ioctl(fd, request, argument); });
}

}  // namespace varve::agent
