#!/bin/bash
# SPDX-License-Identifier: MIT
# A preloaded library that tells another time, behind a lock: a tick within it must not wait for that lock, nor turn its time on, nor
# believe it.
. "$(dirname "$0")/guest.inc"

cat >other.c <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long calls;
long calls_of_clock(void) { return calls; }
int clock_gettime(clockid_t clock, struct timespec* time) {
  pthread_mutex_lock(&lock);
  ++calls;
  const int result = (int)syscall(SYS_clock_gettime, clock, time);
  time->tv_sec += 86400;
  pthread_mutex_unlock(&lock);
  return result;
}
C
gcc -O1 -fPIC -shared other.c -o libother.so || fail "cannot compile the library"
build asks -L. -lother -Wl,-rpath,"$PWD" <<'C'
#include <stdio.h>
#include <time.h>
long calls_of_clock(void);
int main(void) {
  struct timespec now;
  long asked = 0;
  for (const clock_t end = clock() + 150 * CLOCKS_PER_SEC / 1000; clock() < end; asked += 1000)
    for (int i = 0; i < 1000; ++i) clock_gettime(CLOCK_MONOTONIC, &now);
  printf("calls of others: %ld\n", calls_of_clock() - asked);
  return 2;
}
C
for options in "" "--waits off" "--interval 1ms"; do
  record_options=($options)
  same asks.p env LD_PRELOAD="$PWD/libother.so" ./asks
  expect_eq "what it counted" "$(cat out)" "calls of others: 0"
  holds "samples with ${options:-no option}" "$(summary samples asks.p) >= 5"
  holds "the run's time" "$(summary elapsed_ns asks.p) < 100e9"
  expect_eq "damages" "$(summary damages asks.p)" 0
  ledger asks.p
done
