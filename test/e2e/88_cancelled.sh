#!/bin/bash
# SPDX-License-Identifier: MIT
# A wait that is ended by cancellation stands where the thread waited, as the observer saw it, and not in the handler or the library's
# destructor that the thread had come to when it was written down. Nobody saw it: then it has no place.
# calm
. "$(dirname "$0")/run_states.inc"

build cancelled -lpthread <<'C'
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int ends[2];
static double begun[2], handled[2];
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}
static void unlock(void* unused) { (void)unused, handled[0] = now(), pthread_mutex_unlock(&lock); }
static void rest(void* unused) { (void)unused, handled[1] = now(), usleep(400000); }
__attribute__((noinline)) static void* in_condition(void* unused) {
  pthread_mutex_lock(&lock);
  begun[0] = now();
  pthread_cleanup_push(unlock, 0);
  for (;;) pthread_cond_wait(&never, &lock);
  pthread_cleanup_pop(0);
  return unused;
}
__attribute__((noinline)) static void* in_read(void* unused) {
  char byte;
  pthread_cleanup_push(rest, 0);
  begun[1] = now();
  while (read(ends[0], &byte, 1) == 1) continue;
  pthread_cleanup_pop(0);
  return unused;
}
int main(void) {
  pthread_t threads[2];
  if (pipe(ends) || pthread_create(&threads[0], 0, in_condition, 0) || pthread_create(&threads[1], 0, in_read, 0)) return 1;
  usleep(1000000);  // a busy observer may look at stacks late
  for (int i = 0; i < 2; ++i) pthread_cancel(threads[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  printf("{\"Condition\": %.0f, \"Stream\": %.0f}\n", handled[0] - begun[0], handled[1] - begun[1]);
  return 0;
}
C

# place TYPE: where the one wait of that type stands, if it was as long as the program says, and without the rest of 0.4 s after it
place() { rows waits w "[r['created_at'].split(' ')[-1] for r in rows if r['type'] == '$1' and -0.1e9 < n(r, 'wait_ns') - $(truth $1) < 0.2e9]"; }
places() {
  profile w ./cancelled
  expect_eq "place of a cancelled wait for a condition, by $run_states" "$(place Condition)" "['(in_condition)']"
  expect_eq "place of a cancelled read, by $run_states" "$(place Stream)" "['(in_read)']"
}
run_states=switches
[ "$sources" = sweeps ] || places
run_states=sweeps  # which alone know the moment, and may come late
more_work places
run_states=off
profile w ./cancelled
expect_eq "place of a wait for a condition that nobody saw" "$(place Condition)" "['']"
expect_eq "place of a read that nobody saw" "$(place Stream)" "['']"
