#!/bin/bash
# SPDX-License-Identifier: MIT
# A wait in slices with a short limit, as python's for its interpreter lock, is ended by who ends the last of them; one with a longer
# limit by its time.
. "$(dirname "$0")/agent.inc"

build baton -lpthread -I"$root" <<'P'
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "test/programs/work.h"

enum { kTurns = 60, kSlice = 5, kPeriods = 5, kPeriod = 60 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t baton = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static int whose = 1, asked;
static uint64_t waited_ns;

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
static struct timespec later(int ms) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_nsec += ms * 1000000L;
  t.tv_sec += t.tv_nsec / 1000000000, t.tv_nsec %= 1000000000;
  return t;
}
static void take(int mine) {
  const uint64_t begin = now();
  pthread_mutex_lock(&mutex);
  while (whose != mine) {
    const struct timespec at = later(kSlice);
    if (pthread_cond_timedwait(&baton, &mutex, &at) == ETIMEDOUT) __atomic_store_n(&asked, 1, __ATOMIC_SEQ_CST);
  }
  pthread_mutex_unlock(&mutex);
  if (mine == 0) waited_ns += now() - begin;
}
static void pass_to(int other) {
  pthread_mutex_lock(&mutex);
  whose = other, asked = 0;
  pthread_cond_signal(&baton), pthread_mutex_unlock(&mutex);
}
/// Has it until the other has asked three times: two slices time out, and the end of the third is short.
static void turn(int mine) {
  static uint64_t x = 1;
  take(mine);
  for (int times = 0; times < 3;) {
    SPIN(x, STEPS_PER_MS / 20);
    if (__atomic_exchange_n(&asked, 0, __ATOMIC_SEQ_CST)) ++times;
  }
  pass_to(!mine);
}
static void* other(void* unused) {
  prctl(PR_SET_NAME, "other");
  for (int i = 0; i < kTurns; ++i) turn(1);
  return unused;
}
int main(void) {
  pthread_t thread;
  if (pthread_create(&thread, 0, other, 0)) abort();
  for (int i = 0; i < kTurns - 1; ++i) turn(0);
  take(0);
  pthread_join(thread, 0);
  const uint64_t begin = now();
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < kPeriods; ++i) {
    const struct timespec at = later(kPeriod);
    if (pthread_cond_timedwait(&never, &mutex, &at) != ETIMEDOUT) abort();
  }
  pthread_mutex_unlock(&mutex);
  printf("{\"waited_ns\": %lu, \"periods_ns\": %lu}\n", waited_ns, now() - begin);
}
P

# By the hooks' clock, as in 88_timed_out.
run_states=off
profile waits ./baton
"$VARVE" report waits --thread baton --format json waits >waits.json || fail "report waits"
# The time that rows of a condition have, "other" its own, "timed" those of nobody.
caused() {
  python3 -c '
import json, sys
rows = json.load(open("waits.json"))["holders"]
of = {"other": lambda r: r["thread"].startswith("other") and r["object"].startswith("Condition"),
      "timed": lambda r: r["object"] == "[timed out]"}[sys.argv[1]]
print(sum(r["caused_ns"] for r in rows if of(r)))' "$1"
}
# On a busy machine a thread may lose its processor between two slices, which are waits of their own then.
holds "who passed the baton ended all slices" "0.8 < $(caused other) / $(truth waited_ns) < 1.03"
holds "a time that was over ended the periods" \
  "0.97 < $(caused timed) / $(truth periods_ns) and $(caused timed) < 1.03 * $(truth periods_ns) + 0.2 * $(truth waited_ns)"
