#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that were built with -pg, or call profil(): the C library sets and puts back SIGPROF past all hooks. They end as bare, have
# their own profile, and are sampled. In C++ with the math library the profiler begins before the agent, at a library's start.
. "$(dirname "$0")/guest.inc"

cat >gprof.c <<'C'
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include "test/programs/work.h"
#ifdef __cplusplus
extern "C"
#endif
void moncontrol(int on);
static unsigned short counts[65536];
__attribute__((noinline)) static uint64_t spin(unsigned ms) {
  uint64_t x = 5;
  SPIN(x, ms * STEPS_PER_MS);
  return x;
}
static void* other(void* unused) { return spin(300) ? unused : NULL; }
static void say(const char* when) {
  struct sigaction action;
  struct itimerval timer;
  sigaction(SIGPROF, NULL, &action);
  getitimer(ITIMER_PROF, &timer);
  printf("%s: handler %d, timer %d\n", when, action.sa_handler != SIG_DFL, timer.it_interval.tv_usec > 0);
}
static unsigned long counted(void) {
  unsigned long sum = 0;
  for (unsigned i = 0; i < sizeof counts / sizeof *counts; ++i) sum += counts[i];
  return sum;
}
int main(int count, char** words) {
  pthread_t thread;
  (void)words;
  pthread_create(&thread, NULL, other, NULL);
  say("begin");
  spin(200);
  moncontrol(0);
  say("off");
  spin(200);
  moncontrol(1);
  say("on");
  spin(200);
  moncontrol(0);
  profil(counts, sizeof counts, (size_t)&spin & ~0xfffful, 65536);
  for (uint64_t end = process_ns() + 250000000; process_ns() < end;) spin(1);
  say("profil");
  profil(NULL, 0, 0, 0);
  say("end");
  /* 25 of 250 ms of CPU time, of which many may fall between ticks of a busy machine; with ours among them they would be twice as many. */
  printf("counts %d, %g\n", counted() >= 5 && counted() <= 37, sqrt(count));
  pthread_join(thread, NULL);
  return 3;
}
C
ln -s "$root/test" test  # what it includes
guest() {
  bare "./$1.program"
  [ $bare_code = 3 ] || fail "the bare run of $1 ends with $bare_code"
  rm -f gmon.out  # what is there afterwards is the recorded run's
  same_as_bare "$1" "./$1.program"
  expect_match bare 'counts 1'
  expect_match bare '^profil: handler 1, timer 1$'
  expect_match bare '^off: handler 0, timer 0$'
  holds "samples of $1" "$(rows hotspots "$1" "sum(n(r, 'total_ns') for r in rows if r['function'].split('(')[0] == 'spin')") >= 0.8 * $(summary cpu_ns "$1")"
  ledger "$1"
}
gcc -O1 -g -I. gprof.c -o plain.program -lm || fail "cannot compile"
guest plain
# LONG=yes has both, as in stress/79.
compilers=g++
[ "${LONG:-}" != yes ] || compilers+=" gcc"
for compiler in $compilers; do
  $compiler -x c$([ $compiler = gcc ] || echo ++) -O1 -g -pg -I. gprof.c -o $compiler.program -lm 2>log || { echo "SKIPPED: $compiler -pg; $(tail -1 log)"; continue; }
  guest $compiler
  expect_match bare '^begin: handler 1, timer 1$'
  [ -s gmon.out ] || fail "$compiler: no gmon.out"
  mv gmon.out recorded.gmon
  ./$compiler.program >/dev/null
  expect_eq "size of the program's own profile" "$(stat -c %s recorded.gmon)" "$(stat -c %s gmon.out)"
done
