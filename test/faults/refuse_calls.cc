// SPDX-License-Identifier: MIT
// The kernel's refusals, made: in the agent of `make VARIANT=faults` the n-th system call of a kind fails
// with the error that such a call fails with in life. The environment says which:
//   VARVE_FAULT=KIND:N    the N-th call of KIND in a process, from its exec on; a fork's child counts on
//   VARVE_FAULT=KIND:N+   that one and all later ones
//   VARVE_FAULT_LOG=FILE  gets the kind, a line, each time a call is refused
// KIND is a name of the table below, or any. Calls that the kernel cannot refuse are not in the table, nor is
// mknod, by which the agent says why it does not begin. Never in an installed agent. Context: signal, and
// every other part of the agent.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "agent/session.h"
#include "agent/signal/raw_syscall.h"

namespace varve::agent {
namespace {

struct Kind {
  long number;
  const char* name;
  int error;
};
constexpr Kind kKinds[] = {
    {__NR_open, "open", EMFILE},
    {__NR_openat, "openat", EMFILE},
    {__NR_newfstatat, "newfstatat", EACCES},
    {__NR_fcntl, "fcntl", EPERM},
    {__NR_perf_event_open, "perf_event_open", EACCES},
    {__NR_mmap, "mmap", ENOMEM},
    {__NR_mprotect, "mprotect", ENOMEM},
    {__NR_munmap, "munmap", ENOMEM},
    {__NR_fallocate, "fallocate", ENOSPC},
    {__NR_fallocate, "fallocate_unknown", EOPNOTSUPP},  // as file systems say that do not have it
    {__NR_pwrite64, "pwrite64", ENOSPC},
    {__NR_prlimit64, "prlimit64", EPERM},
    {__NR_timer_create, "timer_create", EAGAIN},
    {__NR_timer_settime, "timer_settime", EPERM},
    {__NR_rt_sigaction, "sigaction", EPERM},
    {__NR_sigaltstack, "sigaltstack", EPERM},
    {__NR_clock_gettime, "clock_gettime", EPERM},
    {__NR_getrusage, "getrusage", EPERM},
    {__NR_pread64, "pread64", EIO},
    {__NR_lseek, "lseek", EPERM},
    {__NR_fstat, "fstat", EPERM},
    {__NR_fstatfs, "fstatfs", EPERM},
    {__NR_readlink, "readlink", EACCES},
    {__NR_getcwd, "getcwd", ENOENT},
    {__NR_uname, "uname", EPERM},
    {__NR_process_vm_readv, "process_vm_readv", EPERM},
    {__NR_prctl, "prctl", EPERM},
    {__NR_getsockname, "getsockname", EPERM},
    {__NR_getpeername, "getpeername", EPERM},
};

/// Of two kinds of one call the wanted one, else the first.
const Kind* kind_of(long number, const Kind* wanted) {
  if (wanted && wanted->number == number) return wanted;
  for (const Kind& kind : kKinds)
    if (kind.number == number) return &kind;
  return nullptr;
}

/// What the environment asks for, read at the first call.
struct Wish {
  const Kind* kind = nullptr;  // null: any
  unsigned long nth = 0;       // 0: nothing is refused
  bool and_later = false;
  char log[4096] = {};
};

Wish read_wish() {
  Wish wish;
  const char* text = find_variable(environ, "VARVE_FAULT");
  const char* log = find_variable(environ, "VARVE_FAULT_LOG");
  const char* colon = text ? std::strchr(text, ':') : nullptr;
  if (!colon) return wish;
  for (const Kind& kind : kKinds)
    if (std::strlen(kind.name) == size_t(colon - text) && !std::memcmp(kind.name, text, size_t(colon - text)))
      wish.kind = &kind;
  if (!wish.kind && std::strncmp(text, "any:", 4) != 0) return wish;
  for (text = colon + 1; *text >= '0' && *text <= '9'; ++text)
    wish.nth = wish.nth * 10 + unsigned(*text - '0');
  wish.and_later = *text == '+';
  if (log) std::strncpy(wish.log, log, sizeof wish.log - 1);
  return wish;
}

/// One thread, at the start of the agent, is the first to call.
const Wish& wish() {
  static Wish wanted = read_wish();
  return wanted;
}

long bare(long number, long a, long b, long c, long d = 0) {
  long result;
  register long r10 asm("r10") = d;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
               : "rcx", "r11", "memory");
  return result;
}

void note(const Kind& kind) {
  const long fd = bare(__NR_open, as_arg(wish().log), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (failed(fd)) return;
  char line[64];
  const size_t length = std::strlen(kind.name);
  std::memcpy(line, kind.name, length);
  line[length] = '\n';
  bare(__NR_write, fd, as_arg(line), long(length) + 1);
  bare(__NR_close, fd, 0, 0);
}

std::atomic<unsigned long> calls{0};

}  // namespace

long refused(long number) {
  const Wish& wanted = wish();
  const Kind* kind = wanted.nth ? kind_of(number, wanted.kind) : nullptr;
  if (!kind || (wanted.kind && wanted.kind != kind)) return 0;
  const unsigned long call = calls.fetch_add(1, std::memory_order_relaxed) + 1;
  if (call != wanted.nth && !(wanted.and_later && call > wanted.nth)) return 0;
  note(*kind);
  return -kind->error;
}

}  // namespace varve::agent
