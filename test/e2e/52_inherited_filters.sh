#!/bin/bash
# SPDX-License-Identifier: MIT
# Hazard 23: filters of system calls that the recorder itself was started with, as in most containers. One that lets agents do
# what they want takes nothing from a recording; under one that does not, or with another of the program's own, they ask less,
# and no program ends for it.
# idle
. "$(dirname "$0")/guest.inc"

# forbid(NUMBER): from now on a filter ends who makes this system call.
cat >forbid.h <<'C'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
static int forbid(unsigned number) {
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {4, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}
C

# behind NUMBER COMMAND...: under a filter that ends who makes this system call; -1: nobody.
build behind -I. <<'C'
#include "forbid.h"
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char** argv) {
  if (argc < 3) return 3;
  if (forbid((unsigned)atoi(argv[1]))) return 4;
  execvp(argv[2], argv + 2);
  return 127;
}
C

# A reader that waits for its pipe: the descriptor's name is what an agent asks for that heeds no filter.
build piped -lpthread <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static int ends[2];
static void* writer(void* unused) {
  for (int i = 0; i < 5; ++i) usleep(20000), write(ends[1], "x", 1);
  return unused;
}
int main(void) {
  pthread_t thread;
  char byte;
  if (pipe(ends) || pthread_create(&thread, 0, writer, 0)) return 1;
  for (int i = 0; i < 5; ++i)
    if (read(ends[0], &byte, 1) != 1) return 2;
  pthread_join(thread, 0);
  return puts("read"), 0;
}
C
grep -q '^Seccomp_filters:' /proc/self/status || { echo "SKIPPED: this kernel does not count filters"; exit 0; }

# recorded NAME NUMBER COMMAND...: recorded behind the filter; whether its pipe has a name is then in `named`.
recorded() {
  local name=$1 number=$2
  shift 2
  run timeout -s KILL "$guest_limit" ./behind "$number" "$VARVE" record -q -o "$name" -- "$@"
  expect_eq "exit code behind a filter of $number" $code 0
  expect_eq "output behind a filter of $number" "$(cat out)" read
  "$VARVE" report waits --format csv "$name" >waits.csv || fail "report waits"
  named=$(grep -c '^Pipe ' waits.csv)
}
recorded free -1 ./piped
[ "$named" -gt 0 ] || fail "behind a filter that lets everything pass the pipe has no name: $(cat waits.csv)"
recorded twice -1 ./behind -1 ./piped
expect_eq "names behind a filter that the recorder does not know" $named 0
# process_vm_readv, perf_event_open, rt_sigpending and getpeername (asm/unistd_64.h), which the program does not make.
for number in 310 298 127 52; do
  recorded "without-$number" "$number" ./piped
  expect_eq "names behind a filter of $number" $named 0
  "$VARVE" report concurrency "without-$number" >concurrency || fail "report concurrency"
  expect_match concurrency "a filter of system calls .seccomp. that varve was started with ends who asks for them"
done
# A child that no hook saw begin has the hooks all the same, and a filter of its own: they ask the kernel for nothing in it.
build cloned -I. <<'C'
#include "forbid.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static int sealed(unsigned number) {
  int ends[2];
  char byte;
  if (forbid(number) || pipe(ends)) return 4;
  long writer = syscall(SYS_clone, (long)SIGCHLD, 0l, 0l, 0l, 0l);
  if (writer == 0) {
    usleep(50000);
    _exit(write(ends[1], "x", 1) != 1);
  }
  return read(ends[0], &byte, 1) != 1;
}
int main(int argc, char** argv) {
  int status = 0;
  long child = syscall(SYS_clone, (long)SIGCHLD, 0l, 0l, 0l, 0l);
  if (child == 0) _exit(argc < 2 ? 3 : sealed((unsigned)atoi(argv[1])));
  if (waitpid((int)child, &status, 0) != (int)child || status) return printf("%#x\n", status), 1;
  return puts("read"), 0;
}
C
# fstat, process_vm_readv, rt_sigpending, getpeername, timer_create, clock_gettime
for number in 5 310 127 52 222 228; do
  expect_eq "bare with $number" "$(./cloned "$number")" read
  recorded "cloned-$number" -1 ./cloned "$number"
done

# Where SIGCHLD is ignored no status of the trial says that it was ended.
run env --ignore-signal=CHLD ./behind 310 "$VARVE" record -q -o ignored -- ./piped
expect_eq "exit code where SIGCHLD is ignored" $code 0
expect_eq "output where SIGCHLD is ignored" "$(cat out)" read

# Likewise against what the agent hands a signal on by: SIGPROF of the program's own, which one thread waits for and another is sent.
build handed -I. -lpthread <<'C'
#include "forbid.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static sigset_t prof;
static void* waits(void* unused) {
  int number = 0;
  sigwait(&prof, &number);
  return printf("got %d\n", number), unused;
}
int main(int argc, char** argv) {
  pthread_t thread;
  sigemptyset(&prof), sigaddset(&prof, SIGPROF);
  pthread_sigmask(SIG_BLOCK, &prof, 0);
  if (argc < 2 || pthread_create(&thread, 0, waits, 0)) return 3;
  usleep(50000);
  if (forbid((unsigned)atoi(argv[1]))) return 4;
  union sigval value = {7};
  if (atoi(argv[1]) == 129 ? kill(getpid(), SIGPROF) : sigqueue(getpid(), SIGPROF, value)) return 5;
  return pthread_join(thread, 0);
}
C
# rt_sigqueueinfo, tgkill, rt_tgsigqueueinfo
for number in 129 234 297; do
  same "handed-$number" ./handed "$number"
  expect_eq "bare with a filter of $number" "$(cat bare)" "got 27"
done

# A filter of the program's own against what the agent asks at a fork and at an exec: it does not run where the program does not.
build later -I. <<'C'
#include "forbid.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char** argv) {
  if (argc < 2) return 3;
  int status = 0;
  if (forbid((unsigned)atoi(argv[1]))) return 4;
  pid_t child = fork();
  if (child == 0) _exit(9);
  waitpid(child, &status, 0), printf("fork %#x\n", status);
  child = vfork();
  if (child == 0) execl("./static", "static", NULL), _exit(8);
  waitpid(child, &status, 0), printf("exec %#x\n", status);
  child = vfork();
  if (child == 0) execlp("static", "static", NULL), _exit(8);
  return waitpid(child, &status, 0), printf("search %#x\n", status), 0;
}
C
echo 'int main(void) { return 7; }' | gcc -x c -O1 -static - -o static || fail "cannot compile static"
export PATH=$PATH:.
# access, uname, unlink, mknod, openat; rt_sigaction, kill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo
for number in 21 63 87 133 257 13 62 234 129 297; do
  same "later-$number" ./later "$number"
  expect_eq "bare with a filter of $number" "$(tr '\n' ' ' <bare)" "fork 0x900 exec 0x700 search 0x700 "
  "$VARVE" report quality "later-$number" >quality || fail "report quality"
  expect_match quality 'installed a seccomp filter that kills for system calls of the agent'
done
