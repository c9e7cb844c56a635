#!/bin/bash
# SPDX-License-Identifier: MIT
# D-25: programs that use SIGPROF themselves, block every signal or wait for every signal see what they would without us, and are
# sampled nevertheless.
. "$(dirname "$0")/agent.inc"

# same KIND [BEFORE...]: bare and recorded output are equal, and the work was sampled.
same() {
  local kind=$1
  shift
  timeout 60 "$@" $programs/own_sigprof $kind >bare 2>&1
  bare_code=$?
  run timeout 60 "$@" "$VARVE" record -q ${option:-} -o $kind $programs/own_sigprof $kind
  expect_eq "exit code of $kind" $code $bare_code
  cmp -s out bare || fail "output of $kind differs from the bare run's: $(cat bare)$(show)"
  holds "samples of $kind" "$(summary samples $kind) >= 3"
  ledger $kind
}
same itimer
expect_match bare '"several": 1, "foreign": 0, "mine": 1'
same raised
expect_match bare '"seen": 5'
same ignored python3 -c 'import os, signal, sys; signal.signal(signal.SIGPROF, signal.SIG_IGN); os.execvp(sys.argv[1], sys.argv[1:])'
expect_match bare '"ignored": 1'
same blocked python3 -c 'import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPROF]); os.execvp(sys.argv[1], sys.argv[1:])'
expect_eq "threads with samples, all signals blocked" "$(rows threads blocked 'len([r for r in rows if r["tid"] and n(r, "samples")])')" 2
same sigwait
expect_eq "signals waited for" "$(wc -l <bare)" 3
same signalfd
expect_eq "signals read" "$(wc -l <bare)" 3
same pending
expect_match bare '"first": 27, "by_kill": 1, "none": -1, "again": 1, "third": 27, "blocked": 1'
same unblocked
expect_eq "exit code of a program that lets SIGPROF in" $bare_code 155
same hands_on
expect_eq "programs that were started with SIGPROF ignored" "$(grep -c '"ignored": 1' bare)" 3
same hands_on_mask
expect_eq "programs that were started with SIGPROF blocked" "$(grep -c '"mask": 1' bare)" 2
same elsewhere
expect_match bare 'elsewhere 0 27'
same others_block
expect_match bare '"several": 1, "in_others": 0'
same sent_early
expect_match bare 'still here'
same handler_mask
expect_match bare '"within": 1, "after": 0'
expect_eq "exit code of a program whose handler blocked signals for its own time" $bare_code 155
same flags
expect_match bare 'read -1 interrupted'
expect_match bare 'deepest 3'
same forks
expect_match bare 'child 27'
rm -r forks
option=--no-follow same forks

# A library's constructor, which runs before the agent's, sets a handler that is to interrupt calls.
gcc -shared -fPIC -x c - -o libearly.so <<'C' || fail "cannot compile a library"
#include <signal.h>
static void on(int number) { (void)number; }
__attribute__((constructor)) static void set(void) {
  struct sigaction action = {.sa_handler = on};
  sigaction(SIGPROF, &action, 0);
}
C
build interrupted -L. -Wl,--no-as-needed -learly -Wl,-rpath,"$PWD" <<'C'
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  int ends[2];
  char byte;
  if (pipe(ends)) return 1;
  const pid_t parent = getpid(), child = fork();
  if (!child) {
    for (int i = 0; i < 20 && getppid() == parent; ++i) usleep(100000), kill(parent, SIGPROF);
    _exit(write(ends[1], "x", 1) != 1);
  }
  printf("%d", (int)read(ends[0], &byte, 1));
  printf(" %d\n", errno == EINTR);
  kill(child, SIGKILL);
  return wait(0) != child;
}
C
run ./interrupted
expect_eq "a handler of a library, bare" "$(cat out)" "-1 1"
record -q -o interrupted.p ./interrupted
expect_eq "a handler of a library" "$(cat out)" "-1 1"

# Old and rare calls about a signal that ticks come by.
build old_calls <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
static volatile sig_atomic_t came;
static void on(int unused) { came += unused == SIGPROF; }
static const char* name(void (*handler)(int)) {
  return handler == SIG_HOLD ? "hold" : handler == SIG_DFL ? "default" : handler == SIG_IGN ? "ignore" : handler == SIG_ERR ? "error" : "mine";
}
static int waits(void) {
  sigset_t set;
  return sigpending(&set) ? -1 : sigismember(&set, SIGPROF);
}
int main(void) {
  sigset_t prof;
  sigemptyset(&prof), sigaddset(&prof, SIGPROF);
  sigprocmask(SIG_BLOCK, &prof, NULL);
  printf("waits %d", waits());
  raise(SIGPROF);
  printf(", then %d", waits());
  signal(SIGPROF, SIG_IGN);
  printf(", ignored %d\n", waits());
  signal(SIGPROF, on);
  sigprocmask(SIG_UNBLOCK, &prof, NULL);
  printf("came %d\n", (int)came);
  errno = 0;
  printf("no handler: %s", name(signal(SIGPROF, SIG_ERR)));
  printf(", %d\n", errno == EINVAL);
  raise(SIGPROF);
  printf("came %d\n", (int)came);
  return 0;
}
C
./old_calls >expected
record -q -o old ./old_calls
expect_eq "exit code of old calls" $code 0
expect_eq "old calls" "$(cat out)" "$(cat expected)"
