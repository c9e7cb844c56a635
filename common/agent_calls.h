// SPDX-License-Identifier: MIT
// The system calls of an agent in a program that runs: the agent holds a filter's program against them
// before it is installed (agent/call_filter.h), the recorder tries them under the filters that it was started
// with (viewer/record/filter_trial.h). Not those of its start, which a filter that does not know them has
// ended by then. Context: any thread of the target, viewer.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

namespace varve {

/// The calling thread's time as scheduler ticks charge it (CPUCLOCK_PERTHREAD | CPUCLOCK_PROF of thread 0):
/// it goes on by a whole tick in whoever runs at one. For timers only.
inline constexpr clockid_t kTickClock = clockid_t(~0u << 3 | 4);

/// A filter may look at the arguments; those that are left out are zero, with which none of these calls
/// changes or waits for anything.
struct AgentCall {
  int number;
  uint64_t arguments[3];
};

/// No descriptor: even to read nothing from a terminal stops who is in its background.
inline constexpr uint64_t kNoFile = uint64_t(-1);

/// What ticks and hooks always ask.
inline constexpr AgentCall kAgentCalls[] = {
    {__NR_clock_gettime, {uint64_t(CLOCK_THREAD_CPUTIME_ID)}},
    {__NR_clock_gettime, {uint64_t(CLOCK_PROCESS_CPUTIME_ID)}},
    {__NR_rt_sigprocmask, {}},
    {__NR_rt_sigtimedwait, {}},
    {__NR_sigaltstack, {}},
    // Of a signal of the program's that waits beside a tick, or is sent on: to nobody, and none.
    {__NR_rt_sigaction, {}},
    {__NR_kill, {}},
    {__NR_tgkill, {}},
    {__NR_rt_sigqueueinfo, {}},
    {__NR_rt_tgsigqueueinfo, {}},
    {__NR_getpid, {}},
    {__NR_getppid, {}},
    {__NR_gettid, {}},
    {__NR_sched_yield, {}},
    {__NR_nanosleep, {}},
    {__NR_prctl, {PR_GET_NAME}},
    {__NR_prctl, {PR_GET_SECCOMP}},
    {__NR_timer_create, {uint64_t(kTickClock)}},
    {__NR_timer_settime, {}},
    {__NR_timer_delete, {}},
    {__NR_getrusage, {}},
    {__NR_prlimit64, {}},
    {__NR_open, {0, O_RDWR | O_CLOEXEC | O_NOFOLLOW}},
    {__NR_open, {0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600}},
    {__NR_open, {0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY}},
    {__NR_fstat, {kNoFile}},
    {__NR_fstatfs, {kNoFile}},
    {__NR_pread64, {kNoFile}},
    {__NR_fallocate, {kNoFile}},
    {__NR_pwrite64, {kNoFile}},
    {__NR_mmap, {0, 65536, PROT_READ | PROT_WRITE}},
    {__NR_mprotect, {0, 4096, PROT_NONE}},
    {__NR_munmap, {}},
    {__NR_close, {kNoFile}},
    // Of a fork, which begins a file of its own.
    {__NR_uname, {}},
    {__NR_unlink, {}},
    {__NR_mknod, {0, S_IFREG | 0600}},
    // Of an exec, which asks what the program is.
    {__NR_access, {0, X_OK}},
    {__NR_newfstatat, {uint64_t(AT_FDCWD)}},
    {__NR_openat, {uint64_t(AT_FDCWD), 0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY}},
};

/// What they ask besides where no filter is, or one that is known to let them.
inline constexpr AgentCall kFurtherAgentCalls[] = {
    {__NR_process_vm_readv, {}},   {__NR_rt_sigpending, {}},         {__NR_getsockname, {kNoFile}},
    {__NR_getpeername, {kNoFile}}, {__NR_fcntl, {kNoFile, F_GETFL}}, {__NR_readlink, {}},
    {__NR_perf_event_open, {}},
};

}  // namespace varve
