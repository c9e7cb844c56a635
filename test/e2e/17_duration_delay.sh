#!/bin/bash
# SPDX-License-Identifier: MIT
# --delay begins later, --duration ends earlier; the command notices neither.
. "$(dirname "$0")/common.inc"

build spin <<'C'
#include <stdlib.h>
#include <time.h>
int main(int argc, char** argv) {
  struct timespec now;
  do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < (argc > 1 ? atoi(argv[1]) : 1000));
  return 9;
}
C
samples() { sed -n 's/^varve: \([0-9,]*\) samples\?,.*/\1/p' err | tr -d ,; }

record -o whole ./spin 1500
expect_eq "exit code" $code 9
whole=$(samples)
record -o late --delay 1s ./spin 1500
expect_eq "exit code with --delay" $code 9
# A second on the wall is at least half of a second of work where another program has the processor as often.
[ "$(samples)" -lt $((whole * 9 / 10)) ] && [ "$(samples)" -gt 0 ] || fail "--delay: $(samples) of $whole samples$(show)"
record -o early --duration 500ms ./spin 1500
expect_eq "exit code with --duration" $code 9
[ "$(samples)" -lt $((whole * 2 / 3)) ] && [ "$(samples)" -gt 0 ] || fail "--duration: $(samples) of $whole samples$(show)"

# What came after the end of recording is in no number.
cpu=$(summary cpu_ns early)
[ "$cpu" -lt 900000000 ] || fail "--duration 500ms: $cpu ns of CPU time"
[ "$(summary residual_ns early)" -lt 100000000 ] || fail "--duration: a residual of $(summary residual_ns early) ns"

# A thread that is made after the end of recording has its creator's mask, which the kernel does not know of.
build masked -lpthread <<'C'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void* show(void* unused) {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, NULL, &mask);
  printf("%d %d\n", sigismember(&mask, SIGPROF), sigismember(&mask, SIGTRAP));
  return unused;
}
int main(void) {
  pthread_t thread;
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  usleep(600000);
  return pthread_create(&thread, NULL, show, NULL) || pthread_join(thread, NULL);
}
C
record -q --duration 200ms -o masked.p ./masked
expect_eq "mask of a thread after the end of recording" "$(cat out)" "1 1"

record -o never --delay 20s ./spin 300
expect_match err 'ended before --delay was over'
for bad in "--interval 0" "--interval 99us" "--interval 2s" "--interval x" "--stack-depth 2" "--stack-depth 4097" \
  "--delay -1" "--duration 1week" "--no-such-option"; do
  # shellcheck disable=SC2086
  record $bad true
  expect_eq "exit code of $bad" $code 2
  expect_one_line err
done
record
expect_eq "exit code without a command" $code 2
for interval in 100us 1ms 1s 2500us; do
  record -q -o "i$interval" --interval $interval true
  expect_eq "exit code of --interval $interval" $code 0
done
