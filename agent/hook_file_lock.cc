// SPDX-License-Identifier: MIT
// Locks of files: flock, lockf, and fcntl, with the commands that wait and that which says whether calls do.
// Who had the lock nobody sees here: mostly it is another process. Context: any thread of the target, its
// signal handlers included.
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "agent/hooks.h"
#include "agent/nonblocking.h"
#include "agent/real.h"
#include "agent/wait_trace.h"

namespace varve::agent {
namespace {

Real<int(int, int)> real_flock{"flock"};
Real<int(int, int, long)> real_fcntl{"fcntl"};
Real<int(int, int, long)> real_fcntl64{"fcntl64"};
Real<int(int, int, off_t)> real_lockf{"lockf"};
Real<int(int, int, off64_t)> real_lockf64{"lockf64"};

/// By `lock`, which waits, where `try_lock` finds the lock with somebody else.
template <typename Try, typename Lock>
int locked(int fd, Try try_lock, Lock lock) {
  if (!traces_waits()) return lock();
  const int saved_errno = errno;
  const int result = try_lock();
  if (result == 0 || (errno != EAGAIN && errno != EACCES)) return result;
  errno = saved_errno;
  Waiting waiting(format::ObjectKind::kFileLock, unsigned(fd));
  return lock();
}

template <typename RealControl>
int controlled(RealControl& real, int fd, int command, long argument) {
  if (command == F_SETFL) return nonblocking.changed(fd, [&] { return real(fd, command, argument); });
  if (command != F_SETLKW && command != F_OFD_SETLKW) [[likely]]
    return real(fd, command, argument);
  if (traces_waits()) pthread_testcancel();  // as the one that waits does; the one that tries does not
  const int that_tries = command == F_SETLKW ? F_SETLK : F_OFD_SETLK;
  return locked(
      fd, [&] { return real(fd, that_tries, argument); }, [&] { return real(fd, command, argument); });
}

template <typename RealLock, typename Size>
int locked_from_here(RealLock& real, int fd, int operation, Size size) {
  if (operation != F_LOCK) return real(fd, operation, size);
  if (traces_waits()) pthread_testcancel();
  return locked(
      fd, [&] { return real(fd, F_TLOCK, size); }, [&] { return real(fd, F_LOCK, size); });
}

}  // namespace

void resolve_file_lock_hooks() {
  real_flock.get(), real_fcntl.get(), real_fcntl64.get(), real_lockf.get(), real_lockf64.get();
}

VARVE_HOOK int flock(int fd, int operation) noexcept {
  if (operation & (LOCK_UN | LOCK_NB)) return real_flock(fd, operation);
  return locked(
      fd, [=] { return real_flock(fd, operation | LOCK_NB); }, [=] { return real_flock(fd, operation); });
}

/// It takes one argument more or none; of which type the kernel knows, and whatever is in the register is
/// passed on, as the C library does.
VARVE_HOOK int control_file(int fd, int command, long argument) asm("fcntl");
VARVE_HOOK int control_large_file(int fd, int command, long argument) asm("fcntl64");
int control_file(int fd, int command, long argument) { return controlled(real_fcntl, fd, command, argument); }
int control_large_file(int fd, int command, long argument) {
  return controlled(real_fcntl64, fd, command, argument);
}

VARVE_HOOK int lockf(int fd, int operation, off_t size) {
  return locked_from_here(real_lockf, fd, operation, size);
}
VARVE_HOOK int lockf64(int fd, int operation, off64_t size) {
  return locked_from_here(real_lockf64, fd, operation, size);
}

}  // namespace varve::agent
