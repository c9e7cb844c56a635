#!/bin/bash
# SPDX-License-Identifier: MIT
# Ticks from performance events (--timer perf): as many as the CPU time has intervals, also below the kernel's own tick; in the
# kernel too; of forked, executed and ended threads; no descriptor is left. Where they are refused one sentence says so before the
# program starts, or the CPU timers of its threads are taken, and the report says that.
# alone
. "$(dirname "$0")/perf.inc"

fact() { "$VARVE" report quality --format json "$2" | python3 -c "import json,sys; print(json.load(sys.stdin)['$1'])"; }

# Distances are drawn evenly from 7/8 to 9/8 of the interval, one for 64 ticks: their standard deviation is 1/(8*sqrt(3)) of it, and
# N ticks have N/64 of them. A tick that comes while the last one is pending, or while a hypervisor has the processor, is merged
# with the next; at 100 us those are a few in a hundred of a busy machine's. CPU timers would have a sample each 4 ms or more.
samples_are_true() {  # DIR NS
  local samples=$(summary samples $1) merged=$(summary overruns $1) due="($(summary sampled_ns $1) / $2)"
  # Where a machine is slow a sample costs more than the self-limit has for it: 2 %, but not less than 20 us. One thread of several has.
  if [ "$(fact slowed_threads $1)" != 0 ]; then
    holds "a sample costs as much as lengthens intervals" "$(summary handler_ns $1) / $(summary samples $1) > max(0.02 * $2, 20e3) / 4"
    echo "SKIPPED: as many ticks as intervals at $2 ns; $("$VARVE" report quality $1 | grep '^Interval')"
    return
  fi
  holds "expirations at $2 ns" "abs($samples + $merged - $due) <= 3 * 64 / (8 * 3 ** 0.5) * max(1, $due / 64) ** 0.5 + 0.01 * $due + 3"
  holds "merged ticks at $2 ns" "$merged <= 0.2 * $due + 5"
}
samples_of_busy_threads() {
  perf_profile p$interval $interval $programs/busy_threads 2 $((600 * $1))
  ledger p$interval
  samples_are_true p$interval $((${interval%us} * 1000))
  nothing_of_ours p$interval
}
for interval in 10000us 1000us 100us; do more_work samples_of_busy_threads; done
expect_match <("$VARVE" report quality p100us) '^Timer +performance events'

# The default is events below the kernel's tick, CPU timers from there on but for threads that may be in step with it.
record -q --interval 1ms -o auto1 true
expect_eq "timer at 1 ms" "$(summary timer auto1)" perf
record -q -o auto10 true
expect_eq "timer at 10 ms" "$(summary timer auto10)" cpu
record -q --interval 1ms --timer cpu -o cpu1 true
expect_match <("$VARVE" report quality cpu1) '^Timer +CPU timers, which the kernel looks at every'

# Children by fork, exec and spawn, and short threads: all have ticks of their own.
children() {
  perf_profile children 1ms sh -c "'$programs/busy_threads' 1 $((200 * $1)); ( '$programs/busy_threads' 1 200 ); exec '$programs/busy_threads' 2 200"
  ledger children
  samples_are_true children 1000000
}
more_work children
perf_profile churn 1ms $programs/thread_churn 300 2
ledger churn
expect_eq "threads of the program" "$(truth threads)" 300

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
# As time, which a longer interval (see above) leaves as it is: without ticks all since the last one would be residual.
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
calls_end_as_bare() {
  case $1 in
    calm) ends_as_bare calm 1ms ;;
    own) ends_as_bare own 100us && ends_as_bare own_prof 100us ;;
    # One that comes first in its program is met by ticks in most runs, where it is not in the middle of fifty.
    first) for _ in {1..10}; do ends_as_bare own 100us futex_waitv; done ;;
    guard) for _ in {1..5}; do perf_profile guarded.p 100us ../guarded $programs/strict_waits own 6; done ;;
  esac
}
at_once calls_end_as_bare calm first
at_once calls_end_as_bare own guard

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

# Who may not have them is told so before the program starts.
if [ "$(id -u)" != 0 ] || [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -lt 2 ]; then
  echo "SKIPPED: the refusal; this needs root, and kernel.perf_event_paranoid of 2 or more"
  exit 0
fi
chmod 755 "$work" && mkdir -m 777 others && cp "$VARVE" varve && cp "$BUILD/libvarve.so" . || fail "cannot copy"
as_nobody() { run setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --bounding-set=-all "$work/varve" record "$@"; }
cd others || exit 1
as_nobody --timer perf -o refused touch started
expect_eq "exit code of a refusal" $code 2
expect_one_line err
expect_match err 'perf_event_paranoid is [0-9]: it must be 1 or less, or the user have CAP_PERFMON'
[ ! -e started ] || fail "the program ran although its ticks were refused"
expect_match <(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --bounding-set=-all "$work/varve" check true) \
  '^ticks +ok +come no more often than every [0-9.]+ ms: .*perf_event_paranoid is [0-9]'
as_nobody -q --interval 1ms -o auto true
expect_eq "exit code of auto" $code 0
expect_eq "timer of who may have no events" "$(summary timer auto)" cpu
expect_match <("$VARVE" report quality auto) 'not performance events: .*perf_event_paranoid'
