#!/bin/bash
# SPDX-License-Identifier: MIT
# Rows 4 and 12 of the hazards: a handler of the program's that comes at any moment and leaves by longjmp, without a mask to put
# back, and threads that are cancelled asynchronously, never leave a tick half done: SIGPROF stays let in, and samples go on.
. "$(dirname "$0")/guest.inc"

build leaves -D_GNU_SOURCE -I"$root" -pthread <<'E2'
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include "test/programs/work.h"
static jmp_buf place;
static volatile long jumps;
static void leave(int number) { (void)number; ++jumps; longjmp(place, 1); }
/* The kernel's word, not a hook's. */
static int blocked(int number) {
  uint64_t mask = 0;
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
  return (int)(mask >> (number - 1) & 1);
}
static void* runs(void* unused) {
  uint64_t x = 5;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  for (;;) SPIN(x, 100);
  return unused;
}
__attribute__((noinline)) static void jump_about(void) {
  static volatile int ever = 0;
  struct sigaction action = {.sa_handler = leave, .sa_flags = SA_NODEFER};
  struct itimerval often = {{0, 70}, {0, 70}}, never = {{0, 0}, {0, 0}};
  sigaction(SIGALRM, &action, NULL);
  if (setjmp(place) == 0) setitimer(ITIMER_REAL, &often, NULL); /* No signal may come before there is a place to jump to. */
  while (thread_ns() < 600000000) {
    uint64_t x = 3;
    SPIN(x, 1000);
    ever |= blocked(SIGPROF);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  printf("jumps %d, SIGPROF blocked %d\n", jumps > 1000, ever);
}
__attribute__((noinline)) static void cancel_many(void) {
  int cancelled = 0;
  for (int i = 0; i < 120; ++i) {
    pthread_t threads[2];
    for (int k = 0; k < 2; ++k) pthread_create(&threads[k], NULL, runs, NULL);
    usleep(1000 + (unsigned)i * 37);
    for (int k = 0; k < 2; ++k) {
      void* result = NULL;
      pthread_cancel(threads[k]);
      pthread_join(threads[k], &result);
      cancelled += result == PTHREAD_CANCELED;
    }
  }
  printf("cancelled %d\n", cancelled);
}
__attribute__((noinline)) static void work_afterwards(void) {
  uint64_t x = 7, begin = thread_ns();
  SPIN(x, 300 * STEPS_PER_MS);
  fprintf(stderr, "%d", x == 0);
  FILE* file = fopen("here/cost", "w");
  fprintf(file, "%lu\n", thread_ns() - begin);
  fclose(file);
}
int main(void) {
  jump_about();
  cancel_many();
  work_afterwards();
  return 3;
}
E2
record_options=(--interval 1ms)
same left ./leaves
expect_eq "what it saw" "$(cat out)" $'jumps 1, SIGPROF blocked 0\ncancelled 240'
holds "samples while it jumped" "$(rows hotspots left "total('jump_about')") > 400e6"
cost=$(cat here/cost)
found=$(rows hotspots left "own('work_afterwards')")
holds "time after all that: $found of $cost" "abs($found - $cost) <= 30e6"
ledger left
