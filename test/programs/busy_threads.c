// SPDX-License-Identifier: MIT
// busy_threads THREADS MS: threads that do the same work at the same time; prints each one's CPU time by its
// own clock, and the process's. Context: tests 41, 42.
#include <pthread.h>
#include <sys/syscall.h>

#include "work.h"

enum { kMaxThreads = 64 };
static uint64_t steps, cpu_ns[kMaxThreads];
static long tids[kMaxThreads];

static void* work(void* argument) {
  long index = (long)argument;
  uint64_t x = (uint64_t)index + 1;
  tids[index] = syscall(SYS_gettid);
  SPIN(x, steps + (x == 0));
  cpu_ns[index] = thread_ns();
  return NULL;
}

int main(int argc, char** argv) {
  long count = (long)number_argument(argc, argv, 1, 1);
  steps = number_argument(argc, argv, 2, 1000) * STEPS_PER_MS;
  pthread_t threads[kMaxThreads];
  if (count > kMaxThreads) return 2;
  for (long i = 0; i < count; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
  for (long i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  printf("{\"threads\": {");
  for (long i = 0; i < count; ++i) printf("%s\"%ld\": %lu", i ? ", " : "", tids[i], cpu_ns[i]);
  printf("}, \"process\": %lu}\n", process_ns());
}
