// SPDX-License-Identifier: MIT
// Preloaded into varve record: its VARVE_FAULT-th call of those below fails, as it may in life; in the process that it starts nothing
// does. VARVE_FAULT_LOG=FILE gets the name of the call. Counts on in forked children of the recorder. Context: test 59.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned long calls;

static int refused(const char* name, int error) {
  static unsigned long nth;
  if (!nth) {
    const char* wish = strcmp(program_invocation_short_name, "varve") ? NULL : getenv("VARVE_FAULT");
    nth = wish ? strtoul(wish, NULL, 10) : ~0ul;
  }
  if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) != nth) return 0;
  const char* log = getenv("VARVE_FAULT_LOG");
  const long fd = log ? syscall(SYS_open, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  if (fd >= 0) syscall(SYS_write, fd, name, strlen(name)), syscall(SYS_write, fd, "\n", 1), syscall(SYS_close, fd);
  errno = error;
  return 1;
}

#define REFUSE(result, name, parameters, arguments, refusal, error)            \
  result name parameters {                                                     \
    static result(*next) parameters;                                           \
    if (!next) next = (result(*) parameters)dlsym(RTLD_NEXT, #name);           \
    return refused(#name, error) ? refusal : next arguments;                   \
  }
REFUSE(int, mkdir, (const char* path, mode_t mode), (path, mode), -1, ENOSPC)
REFUSE(int, rename, (const char* from, const char* to), (from, to), -1, EACCES)
REFUSE(void*, mmap, (void* at, size_t size, int rights, int flags, int fd, off_t from), (at, size, rights, flags, fd, from), MAP_FAILED, ENOMEM)
REFUSE(ssize_t, pwrite, (int fd, const void* bytes, size_t size, off_t at), (fd, bytes, size, at), -1, ENOSPC)
REFUSE(int, ftruncate, (int fd, off_t size), (fd, size), -1, EIO)
REFUSE(int, flock, (int fd, int how), (fd, how), -1, ENOLCK)
REFUSE(int, pipe2, (int* ends, int flags), (ends, flags), -1, EMFILE)
REFUSE(int, pipe, (int* ends), (ends), -1, EMFILE)
REFUSE(pid_t, fork, (void), (), -1, EAGAIN)
REFUSE(int, eventfd, (unsigned value, int flags), (value, flags), -1, EMFILE)
REFUSE(int, signalfd, (int fd, const void* mask, int flags), (fd, mask, flags), -1, EMFILE)
REFUSE(int, inotify_init1, (int flags), (flags), -1, EMFILE)
REFUSE(int, inotify_add_watch, (int fd, const char* path, unsigned mask), (fd, path, mask), -1, ENOSPC)
REFUSE(char*, realpath, (const char* path, char* out), (path, out), NULL, EACCES)
REFUSE(char*, getcwd, (char* out, size_t size), (out, size), NULL, ENOENT)
REFUSE(ssize_t, readlink, (const char* path, char* out, size_t size), (path, out, size), -1, EACCES)
REFUSE(int, pthread_create, (pthread_t * id, const pthread_attr_t* how, void* (*start)(void*), void* with), (id, how, start, with), EAGAIN, EAGAIN)
REFUSE(ssize_t, write, (int fd, const void* bytes, size_t size), (fd, bytes, size), -1, EIO)
REFUSE(ssize_t, read, (int fd, void* bytes, size_t size), (fd, bytes, size), -1, EIO)
REFUSE(ssize_t, pread, (int fd, void* bytes, size_t size, off_t at), (fd, bytes, size, at), -1, EIO)
REFUSE(pid_t, wait4, (pid_t pid, int* status, int how, void* usage), (pid, status, how, usage), -1, EINTR)
REFUSE(int, prctl, (int what, unsigned long a, unsigned long b, unsigned long c, unsigned long d), (what, a, b, c, d), -1, EINVAL)
REFUSE(int, ppoll, (void* which, unsigned long n, const void* limit, const void* mask), (which, n, limit, mask), -1, ENOMEM)
REFUSE(FILE*, fopen, (const char* path, const char* mode), (path, mode), NULL, EMFILE)
REFUSE(int, setpriority, (int which, unsigned who, int nice), (which, who, nice), -1, EACCES)

static mode_t mode_of(int flags, va_list list) { return flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0; }
#define REFUSE_OPEN(name, parameters, arguments)                                                    \
  int name parameters {                                                                             \
    static int (*next)();                                                                           \
    if (!next) next = (int (*)())dlsym(RTLD_NEXT, #name);                                           \
    va_list list;                                                                                   \
    va_start(list, flags);                                                                          \
    const mode_t mode = mode_of(flags, list);                                                       \
    va_end(list);                                                                                   \
    return refused(#name, EMFILE) ? -1 : next arguments;                                            \
  }
REFUSE_OPEN(open, (const char* path, int flags, ...), (path, flags, mode))
REFUSE_OPEN(openat, (int at, const char* path, int flags, ...), (at, path, flags, mode))

/// perf_event_open, which has no function of its own.
long syscall(long number, ...) {
  static long (*next)();
  if (!next) next = (long (*)())dlsym(RTLD_NEXT, "syscall");
  va_list list;
  va_start(list, number);
  long a[6];
  for (int i = 0; i < 6; ++i) a[i] = va_arg(list, long);
  va_end(list);
  if (number == SYS_perf_event_open && refused("perf_event_open", EACCES)) return -1;
  return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
