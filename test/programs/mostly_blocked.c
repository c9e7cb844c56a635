// SPDX-License-Identifier: MIT
// mostly_blocked THREADS MS: two batons go round a ring of threads; who has one works for a millisecond, the others
// wait. All together work for MS. Prints the pieces done and the process's CPU time. Context: make bench.
#include <pthread.h>
#include <semaphore.h>

#include "work.h"

enum { kMostThreads = 1000, kBatons = 2 };
static sem_t turns[kMostThreads];
static uint64_t count, pieces, done;

static void* work(void* argument) {
  const uint64_t self = (uint64_t)(size_t)argument;
  uint64_t x = self + 1;
  for (;;) {
    while (sem_wait(&turns[self])) continue;
    if (__atomic_fetch_add(&done, 1 + (x == 0), __ATOMIC_RELAXED) >= pieces) break;
    SPIN(x, STEPS_PER_MS);
    sem_post(&turns[(self + 1) % count]);
  }
  for (uint64_t i = 0; i < count; ++i) sem_post(&turns[i]);
  return NULL;
}

int main(int argc, char** argv) {
  count = number_argument(argc, argv, 1, 200);
  pieces = number_argument(argc, argv, 2, 2000);
  if (count < kBatons || count > kMostThreads) return 2;
  pthread_t threads[kMostThreads];
  for (uint64_t i = 0; i < count; ++i) sem_init(&turns[i], 0, 0);
  for (uint64_t i = 0; i < count; ++i)
    if (pthread_create(&threads[i], NULL, work, (void*)(size_t)i)) return 1;
  for (uint64_t i = 0; i < kBatons; ++i) sem_post(&turns[i * count / kBatons]);
  for (uint64_t i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  printf("{\"pieces\": %lu, \"process\": %lu}\n", pieces, process_ns());
}
