// SPDX-License-Identifier: MIT
// thread_churn THREADS MS [PARTS]: many threads that each work for a few ms, or that over PARTS, two at a time. Prints
// how many ran and the process's CPU time. Context: test 44 and its stress form, make bench.
#include <pthread.h>

#include "work.h"

enum { kAtOnce = 2 };
static uint64_t steps, ran;

static void* work(void* argument) {
  uint64_t x = (uint64_t)(size_t)argument + 1;
  SPIN(x, steps);
  __atomic_fetch_add(&ran, 1 + (x == 0), __ATOMIC_RELAXED);
  return NULL;
}

int main(int argc, char** argv) {
  uint64_t count = number_argument(argc, argv, 1, 2000);
  steps = number_argument(argc, argv, 2, 3) * STEPS_PER_MS / number_argument(argc, argv, 3, 1);
  pthread_t threads[kAtOnce];
  for (uint64_t i = 0; i < count; ++i) {
    if (i >= kAtOnce) pthread_join(threads[i % kAtOnce], NULL);
    if (pthread_create(&threads[i % kAtOnce], NULL, work, (void*)(size_t)i)) return 1;
  }
  for (uint64_t i = 0; i < kAtOnce && i < count; ++i) pthread_join(threads[i], NULL);
  printf("{\"threads\": %lu, \"process\": %lu}\n", ran, process_ns());
}
