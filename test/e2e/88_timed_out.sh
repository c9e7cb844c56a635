#!/bin/bash
# SPDX-License-Identifier: MIT
# Waits that end because their time is over are told from those that a thread ends, whatever call has the time-out.
# calm
. "$(dirname "$0")/agent.inc"

build waiter -lpthread <<'P'
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { kWait = 20000000 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER, soon = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t other;
static cnd_t other_never;
static sem_t semaphore;
static int word, begun, said;
static uint64_t timed_out_ns, signal_ns, unlocked_ns;

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
static struct timespec later(clockid_t clock, uint64_t ns) {
  struct timespec t;
  clock_gettime(clock, &t);
  ns += (uint64_t)t.tv_nsec;
  return (struct timespec){t.tv_sec + (time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}
#define TIME_OUT(call, result)                                        \
  do {                                                                \
    const struct timespec at = later(CLOCK_REALTIME, kWait);          \
    (void)at;                                                         \
    const uint64_t begin = now();                                     \
    if ((call) != (result)) abort();                                  \
    timed_out_ns += now() - begin;                                    \
  } while (0)

static void* held(void* unused) {
  prctl(PR_SET_NAME, "holder");
  pthread_mutex_lock(&mutex), mtx_lock(&other), pthread_rwlock_wrlock(&rwlock);
  __atomic_store_n(&begun, 1, __ATOMIC_SEQ_CST);
  while (!__atomic_load_n(&said, __ATOMIC_SEQ_CST)) nanosleep(&(struct timespec){0, 1000000}, 0);
  nanosleep(&(struct timespec){0, 2 * kWait}, 0);
  pthread_mutex_lock(&own);
  signal_ns = now();
  pthread_cond_signal(&soon), pthread_mutex_unlock(&own);
  unlocked_ns = now();
  return unused;
}
int main(void) {
  pthread_t thread;
  const struct timespec length = {0, kWait};
  struct epoll_event event;
  struct timeval select_length = {0, kWait / 1000};
  int epoll = epoll_create1(0), ends[2];
  fd_set set;
  if (pipe(ends)) abort();
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  mtx_init(&other, mtx_timed), cnd_init(&other_never), sem_init(&semaphore, 0, 0);
  if (pthread_create(&thread, 0, held, 0)) abort();
  while (!__atomic_load_n(&begun, __ATOMIC_SEQ_CST)) sched_yield();
  pthread_mutex_lock(&own);
  TIME_OUT(pthread_mutex_timedlock(&mutex, &at), ETIMEDOUT);
  TIME_OUT(mtx_timedlock(&other, &at), thrd_timedout);
  TIME_OUT(pthread_rwlock_timedrdlock(&rwlock, &at), ETIMEDOUT);
  TIME_OUT(pthread_cond_timedwait(&never, &own, &at), ETIMEDOUT);
  TIME_OUT(cnd_timedwait(&other_never, (mtx_t*)&own, &at), thrd_timedout);
  TIME_OUT(sem_timedwait(&semaphore, &at), -1);
  TIME_OUT(poll(&(struct pollfd){ends[0], POLLIN, 0}, 1, kWait / 1000000), 0);
  TIME_OUT(select(ends[0] + 1, &set, 0, 0, &select_length), 0);
  TIME_OUT(epoll_wait(epoll, &event, 1, kWait / 1000000), 0);
  TIME_OUT(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &length, 0, 0), -1);
  TIME_OUT(nanosleep(&length, 0), 0);
  TIME_OUT(pthread_timedjoin_np(thread, 0, &at), ETIMEDOUT);
  __atomic_store_n(&said, 1, __ATOMIC_SEQ_CST);
  const struct timespec long_after = later(CLOCK_REALTIME, 100ull * kWait);
  const uint64_t begin = now();
  if (pthread_cond_timedwait(&soon, &own, &long_after) != 0) abort();
  pthread_mutex_unlock(&own);
  pthread_join(thread, 0);
  printf("{\"timed_out_ns\": %lu, \"least_ns\": %lu, \"most_ns\": %lu}\n", timed_out_ns, signal_ns - begin,
         unlocked_ns - begin);
}
P

# By the hooks' clock, which counts what the program's own does: on a busy machine a thread that is awake waits for a processor.
run_states=off
profile waits ./waiter
"$VARVE" report waits --thread waiter --format json waits >waits.json || fail "report waits"
# What the rows of who ended the waits say of that object.
holders() {
  python3 -c '
import json, sys
rows = json.load(open("waits.json"))["holders"]
print(sum(r["caused_ns"] for r in rows if r["object"].split(" ")[0] == sys.argv[1]))' "$1"
}
holds "what timed out" "abs($(holders '[timed') / $(truth timed_out_ns) - 1) < 0.1"
# Until it was let go; on a busy machine it gets a processor later.
holds "what a thread ended" "0.9 * $(truth least_ns) < $(holders Condition) < 1.1 * $(truth most_ns)"
report waits --thread waiter waits
expect_match out '\[timed out\]$'
report critical-path waits
expect_no_match out 'nobody was seen to end'
