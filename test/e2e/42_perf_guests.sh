#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs whose ticks come from performance events (--timer perf) end as bare: SIGTRAP and descriptors stay their own, calls that wait
# return what they do without us. Threads that may have no event, by a filter, or that pay too much for one have CPU timers.
. "$(dirname "$0")/perf.inc"

# SIGTRAP stays the program's own, as do its descriptors.
build traps <<'C'
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile sig_atomic_t traps, codes;
static void on_trap(int number, siginfo_t* info, void* context) {
  traps += number == SIGTRAP && context;
  codes += info->si_code == SI_KERNEL;
}
static void work(double seconds) {
  struct timespec now;
  double begin = -1, at;
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    at = now.tv_sec + now.tv_nsec * 1e-9;
    if (begin < 0) begin = at;
  } while (at - begin < seconds);
}
static int descriptors(void) {
  int count = 0;
  DIR* directory = opendir("/proc/self/fd");
  while (readdir(directory)) ++count;
  closedir(directory);
  return count;
}
static int died(int how) {
  int status;
  pid_t child = fork();
  if (!child) {
    work(0.02);
    sigset_t all;
    sigfillset(&all);
    if (how == 1) sigprocmask(SIG_BLOCK, &all, 0);
    if (how == 2) signal(SIGTRAP, SIG_IGN);
    if (how == 3) raise(SIGTRAP);
    __asm__ volatile("int3");
    _exit(7);
  }
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}
int main(void) {
  struct sigaction action, before;
  sigset_t set, seen;
  printf("default: %d, descriptors %d\n", sigaction(SIGTRAP, 0, &before) == 0 && before.sa_handler == SIG_DFL, descriptors());
  for (int how = 0; how < 4; ++how) printf("int3, %d: died of %d\n", how, died(how));
  sigfillset(&set);
  sigprocmask(SIG_BLOCK, &set, 0);
  work(0.02);
  raise(SIGTRAP);
  work(0.02);
  sigpending(&seen);
  sigprocmask(SIG_BLOCK, 0, &seen);
  printf("blocked: %d\n", sigismember(&seen, SIGTRAP));
  siginfo_t info;
  int got = sigwaitinfo(&set, &info);
  printf("waited for: %d of %d\n", got == SIGTRAP, info.si_code == SI_USER);
  struct timespec limit = {0, 20000000};
  got = sigtimedwait(&set, &info, &limit);
  printf("none is left: %d\n", got < 0 && errno == EAGAIN);
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  sigprocmask(SIG_UNBLOCK, &set, 0);
  sigaction(SIGTRAP, &action, 0);
  sigaction(SIGTRAP, 0, &before);
  for (int i = 0; i < 20; ++i) {
    __asm__ volatile("int3");
    work(0.005);
    raise(SIGTRAP);
  }
  printf("own: %d of 40, %d by the processor, as set %d\n", (int)traps, (int)codes, before.sa_sigaction == on_trap && (before.sa_flags & (SA_SIGINFO | SA_RESTART)) == SA_SIGINFO);
  syscall(SYS_close_range, 3, 1000, 0);
  work(0.1);
  int zero = open("/dev/zero", O_RDONLY), whole = 0, reads = 0;
  static char bytes[1 << 22];
  struct timespec now, begin;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do {
    whole += read(zero, bytes, sizeof bytes) == sizeof bytes;
    ++reads;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1e3 + (now.tv_nsec - begin.tv_nsec) * 1e-6 < 100);
  printf("whole reads: %d, next descriptor %d\n", whole == reads, open("/dev/null", O_RDONLY));
  return 0;
}
C
./traps >bare || fail "the bare run fails"
expect_match bare '^own: 40 of 40, 20 by the processor, as set 1$'
perf_profile traps.p 1ms ./traps
diff bare out >different || fail "a program with SIGTRAP of its own: $(cat different)"
ledger traps.p
# As time, which a longer interval, where a sample costs much, leaves as it is: without ticks all since the last one would be residual.
holds "samples after all descriptors were closed" "$(summary sampled_ns traps.p) > 0.9 * $(summary cpu_ns traps.p)"

# Calls that wait or take long end as bare: 50 of them, each entered just as ticks come; and those that a signal of the program's
# interrupts, though ticks come with it, which the kernel delivers first.
ends_as_bare() {
  local mode=$1 interval=$2 only=${3:-}
  $programs/strict_waits $mode 3 $only >bare.$mode || fail "the bare run fails"
  perf_profile strict.$mode $interval $programs/strict_waits $mode 6 $only
  diff <(grep -v '^io_uring_enter:' bare.$mode) <(grep -v '^io_uring_enter:' out) >different || fail "calls end otherwise: $(cat different)"
}
# Nothing is asked for that where a filter would end the program for the question.
build guarded <<'C'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char** argv) {
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigpending, 0, 1),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {4, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (argc < 2 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0)) return 3;
  execv(argv[1], argv + 1);
  return 127;
}
C
tries=3  # with LONG=yes, as in stress/79, twelve
[ "${LONG:-}" != yes ] || tries=12
calls_end_as_bare() {
  case $1 in
    calm) ends_as_bare calm 1ms ;;
    own) ends_as_bare own 100us && ends_as_bare own_prof 100us ;;
    # One that comes first in its program is met by ticks in most runs, where it is not in the middle of fifty.
    first) for ((i = 0; i < tries; ++i)); do ends_as_bare own 100us futex_waitv; done ;;
    guard) for ((i = 0; i < tries; ++i)); do perf_profile guarded.p 100us ../guarded $programs/strict_waits own 6; done ;;
  esac
}
at_once calls_end_as_bare calm first
at_once calls_end_as_bare own guard

# A thread that blocks SIGTRAP in a program that handles it has a timer: no event's tick would come.
build blocks -lpthread -I"$root" <<'C'
#include <pthread.h>
#include <signal.h>
#include "test/programs/work.h"
static void on_trap(int number) { (void)number; }
static void* work(void* unused) {
  sigset_t all;
  uint64_t x = 5;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  SPIN(x, 400 * STEPS_PER_MS);
  return x ? unused : &unused;
}
int main(void) {
  pthread_t thread;
  signal(SIGTRAP, on_trap);
  return pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL);
}
C
record -q --interval 1ms -o blocks.p ./blocks
expect_eq "exit code of a program that blocks SIGTRAP" $code 0
holds "time in samples where SIGTRAP is blocked" "$(summary sampled_ns blocks.p) > 0.9 * $(summary cpu_ns blocks.p)"

# A filter of the program's own that refuses events, or would end it for them: its threads have CPU timers.
build filtered -lpthread <<'C'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static void work_until(long ms) {
  struct timespec now;
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms);
}
static void* work(void* unused) {
  work_until(300);
  return unused;
}
// error, kill: what the filter does to who asks for events; with a second word the program executes itself under it. late: a filter
// that kills comes when the program has an event and may have no timer any more. work: no filter.
int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "work";
  if (!strcmp(what, "work")) return work(0) != 0;
  if (!strcmp(what, "late")) work(0), setrlimit(RLIMIT_SIGPENDING, &(struct rlimit){0, 0});
  unsigned answer = strcmp(what, "error") ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EACCES;
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
                               BPF_STMT(BPF_RET | BPF_K, answer), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {4, code};
  pthread_t thread;
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0)) return 3;
  if (argc > 2) return execl(argv[0], argv[0], "work", (char*)0), 5;
  if (!strcmp(what, "late")) return work_until(600), 0;
  if (pthread_create(&thread, 0, work, 0) || pthread_join(thread, 0)) return 4;
  work(0);
  return 0;
}
C
for answer in error kill; do
  perf_profile few.$answer 1ms ./filtered $answer
  ledger few.$answer
  # Of 600 ms by CPU timers: at least five even where the ticks of a busy machine come seldom.
  holds "samples without events" "$(summary samples few.$answer) >= 5"
  expect_match <("$VARVE" report quality few.$answer) '^2 threads had the ticks of their CPU timers'
done
for answer in error kill; do
  perf_profile few.exec.$answer 1ms ./filtered $answer exec
  holds "samples of who is executed under a filter" "$(summary samples few.exec.$answer) >= 3"
done
perf_profile few.late 1ms ./filtered late
holds "samples where the event stays, for there is no timer" "$(summary sampled_ns few.late) >= 0.9 * $(summary cpu_ns few.late)"

# Who is switched all the time pays for an event at each switch, and goes back to its timer.
build switches -lpthread <<'C'
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static int there[2], back[2];
static void* answer(void* unused) {
  char byte;
  while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1) continue;
  return unused;
}
int main(void) {
  pthread_t thread;
  struct timespec now;
  char byte = 0;
  if (pipe(there) || pipe(back) || pthread_create(&thread, 0, answer, 0)) return 1;
  do {
    if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) return 2;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while (now.tv_sec == 0 && now.tv_nsec < 500000000);
  close(there[1]);
  return pthread_join(thread, 0);
}
C
perf_profile switches.p 1ms ./switches
ledger switches.p
expect_match <("$VARVE" report quality switches.p) '^2 threads had the ticks of their CPU timers'
