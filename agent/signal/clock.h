// SPDX-License-Identifier: MIT
// The clocks of the agent. CLOCK_MONOTONIC comes from the vDSO (43 ns, safe even when the tick interrupted
// the vDSO's own code: its sequence lock is only read); thread CPU clocks are system calls (350 ns). Where
// the name clock_gettime is not the C library's it is a system call, too: who interposes it, as libfaketime
// does, may take a lock there, allocate, or tell another time than the observer's. Context: signal, and every
// other part of the agent.
#pragma once

#include <time.h>

#include <cstdint>

#include "agent/signal/raw_syscall.h"
#include "common/process_usage.h"

namespace varve::agent {

constexpr uint64_t to_nanos(const timespec& time) {
  return uint64_t(time.tv_sec) * 1'000'000'000 + uint64_t(time.tv_nsec);
}

constexpr timespec to_timespec(uint64_t ns) { return {time_t(ns / 1'000'000'000), long(ns % 1'000'000'000)}; }

/// The C library's clock_gettime, which asks the vDSO, or the system call.
using ReadClock = int(clockid_t, timespec*);
inline int clock_by_system_call(clockid_t clock, timespec* now) {
  return int(raw_syscall(__NR_clock_gettime, clock, as_arg(now)));
}
inline constinit ReadClock* read_clock = clock_by_system_call;

/// At agent start: which of the two.
void learn_clock();

inline uint64_t monotonic_ns() {
  timespec now{};
  read_clock(CLOCK_MONOTONIC, &now);
  return to_nanos(now);
}

/// The same as of the kernel's last tick, a few milliseconds ago, in a tenth of the time.
inline uint64_t recent_ns() {
  timespec now{};
  read_clock(CLOCK_MONOTONIC_COARSE, &now);
  return to_nanos(now);
}

/// A CPU clock in ns, or 0 where the kernel knows no such thread any more.
inline uint64_t cpu_clock_ns(clockid_t clock) {
  timespec now{};
  return failed(raw_syscall(__NR_clock_gettime, clock, as_arg(&now))) ? 0 : to_nanos(now);
}

inline uint64_t thread_cpu_ns() { return cpu_clock_ns(CLOCK_THREAD_CPUTIME_ID); }
inline uint64_t process_cpu_ns() { return cpu_clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

/// User and system time of all children that this process has reaped, theirs included, or kUnknownCpu.
inline uint64_t children_cpu_ns() {
  rusage used{};
  if (failed(raw_syscall(__NR_getrusage, RUSAGE_CHILDREN, as_arg(&used)))) return format::kUnknownCpu;
  return format::to_nanos(used.ru_utime) + format::to_nanos(used.ru_stime);
}

/// The CPU clock of another thread of this process. Encoding: linux/posix-timers.h, CPUCLOCK_PERTHREAD |
/// CPUCLOCK_SCHED.
constexpr clockid_t thread_clock(int tid) { return clockid_t(~unsigned(tid) << 3 | 4 | 2); }
constexpr int tid_of(clockid_t clock) { return int(~(unsigned(clock) >> 3) & 0x1fffffff); }

}  // namespace varve::agent
