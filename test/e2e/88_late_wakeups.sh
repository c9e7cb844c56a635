#!/bin/bash
# SPDX-License-Identifier: MIT
# A thread that is let go on as soon as it waits, and then waits for a processor: who let it go on is known all the same. So it
# is at a barrier, where who comes last knows so only afterwards.
. "$(dirname "$0")/agent.inc"

build late -lpthread <<'P'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static sem_t semaphore;
static pthread_barrier_t barrier;
static atomic_int round_number, over;
static int processors[2], by_barrier;
static int64_t time_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}
static void spin(clockid_t clock, int64_t ns) {
  for (int64_t until = time_of(clock) + ns; time_of(clock) < until;) {}
}
static void pin(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}
static void *occupy(void *none) {  // the processor on which the other thread is to go on
  pin(processors[0]);
  while (!over) spin(CLOCK_MONOTONIC, 1000);
  return none;
}
static void *wait_often(void *none) {
  pin(processors[0]);
  setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 5);
  while (!over) {
    spin(CLOCK_THREAD_CPUTIME_ID, 2000000);  // so that it has had more than its due, and is not the next to run
    ++round_number;
    if (by_barrier) pthread_barrier_wait(&barrier);
    else sem_wait(&semaphore);
  }
  return none;
}
int main(int argc, char **argv) {
  cpu_set_t set;
  int found = 0;
  sched_getaffinity(0, sizeof set, &set);
  for (int i = 0; i < CPU_SETSIZE && found < 2; ++i)
    if (CPU_ISSET(i, &set)) processors[found++] = i;
  if (found < 2) return puts("one processor"), 0;
  by_barrier = argc > 1 && !strcmp(argv[1], "barrier");
  pin(processors[1]);
  sem_init(&semaphore, 0, 0);
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, occupy, NULL);
  pthread_create(&threads[1], NULL, wait_often, NULL);
  for (int i = 1; i <= 40; ++i) {
    while (round_number < i) {}
    spin(CLOCK_MONOTONIC, 5000);
    if (i == 40) over = 1;
    if (by_barrier) pthread_barrier_wait(&barrier);
    else sem_post(&semaphore);
  }
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  return 0;
}
P
# caused WORD: what the first row with that object has; in ns
caused() { python3 -c 'import json, sys; print(next((r["caused_ns"] for r in json.load(open("waits.json"))["holders"] if sys.argv[1] in r["object"]), 0))' "$1"; }
for kind in Semaphore Barrier; do
  record -q -o $kind ./late ${kind,}
  expect_eq "exit code" $code 0
  [ "$(cat out)" != "one processor" ] || { echo "SKIPPED: two threads on a processor each; there is one"; exit 0; }
  "$VARVE" report waits --format json --object "$kind" $kind >waits.json || fail "report waits"
  holds "there are late ones, and who ended them is known, of $kind" "$(caused '[released') > 5e6 > 20 * $(caused '[nobody')"
done
