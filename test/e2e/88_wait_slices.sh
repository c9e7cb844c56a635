#!/bin/bash
# SPDX-License-Identifier: MIT
# A wait in slices with a short limit, as python's for its interpreter lock, is ended by who ends the last of them, on the critical path,
# too; one with a longer limit by its time. So it is with a semaphore, which two post in turn, each soon after a slice.
. "$(dirname "$0")/agent.inc"

build baton -lpthread -I"$root" <<'P'
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "test/programs/work.h"

enum { kTurns = 60, kSlice = 5, kPeriods = 5, kPeriod = 60, kPosts = 20 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t baton = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static int whose = 1, asked;
static uint64_t waited_ns, posted_ns[2];

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
/// Has it until the other has asked three times: three slices time out, and the fourth is short.
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
static sem_t turns[2], posts;
static void* posts_in_turn(void* number) {
  const int mine = (int)(size_t)number;
  prctl(PR_SET_NAME, mine ? "post 1" : "post 0");
  for (int i = 0; i < kPosts; ++i) {
    while (sem_wait(&turns[mine]) != 0) continue;
    usleep(mine ? 18000 : 8000);
    sem_post(&posts);
  }
  return number;
}
static void take_posts(void) {
  pthread_t posters[2];
  sem_init(&posts, 0, 0);
  for (int i = 0; i < 2; ++i) sem_init(&turns[i], 0, 0), pthread_create(&posters[i], 0, posts_in_turn, (void*)(size_t)i);
  for (int i = 0; i < 2 * kPosts; ++i) {
    sem_post(&turns[i % 2]);
    const uint64_t begin = now();
    struct timespec at = later(kSlice);
    while (sem_timedwait(&posts, &at) != 0) at = later(kSlice);
    posted_ns[i % 2] += now() - begin;
  }
  for (int i = 0; i < 2; ++i) pthread_join(posters[i], 0);
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
  const uint64_t periods_ns = now() - begin;
  take_posts();
  printf("{\"waited_ns\": %lu, \"periods_ns\": %lu, \"posted0_ns\": %lu, \"posted1_ns\": %lu}\n", waited_ns, periods_ns, posted_ns[0],
         posted_ns[1]);
}
P

# By the hooks' clock, as in 88_timed_out.
run_states=off
profile waits ./baton
"$VARVE" report waits --thread baton --format json waits >waits.json || fail "report waits"
# Caused time, or releases, by rows of `who` for an object; "[timed out]" is who nobody is.
caused() {
  python3 -c '
import json, sys
rows, (who, what, number) = json.load(open("waits.json"))["holders"], sys.argv[1:]
print(sum(r[number] or 0 for r in rows if (r["thread"] or r["object"]).startswith(who) and what in r["object"]))' "$1" "$2" "${3:-caused_ns}"
}
# On a busy machine a thread may lose its processor between two slices, which are waits of their own then.
lost="0.2 * ($(truth waited_ns) + $(truth posted0_ns) + $(truth posted1_ns))"
holds "who passed the baton ended all slices" "0.8 < $(caused other Condition) / $(truth waited_ns) < 1.03"
holds "one release a turn" "50 <= $(caused other Condition releases) <= 60"
holds "a time that was over ended the periods" \
  "0.97 < $(caused '[timed' '') / $(truth periods_ns) and $(caused '[timed' '') < 1.03 * $(truth periods_ns) + $lost"
for poster in 0 1; do
  holds "what poster $poster ended" "0.8 < $(caused "post $poster" Semaphore) / $(truth posted${poster}_ns) < 1.1"
  holds "its posts" "16 <= $(caused "post $poster" Semaphore releases) <= 20"
done
"$VARVE" report critical-path --format json waits >path.json || fail "report critical-path"
holds "on the path they delay" "$(python3 -c 'import json; print(json.load(open("path.json"))["impact_ns"])') > 0.6 * 2 * $(truth waited_ns)"
