// SPDX-License-Identifier: MIT
// steady THREADS MS FILE: threads that do the same work again and again, in caches and out of them, and write
// to FILE when each piece was done and what it had cost: "thread monotonic_ns cpu_ns" a line. Context: make
// bench, which compares the cost of a piece while the observer works and while it is stopped.
#include <pthread.h>

#include "work.h"

enum { kMostThreads = 64, kMostPieces = 1 << 17, kSteps = 1 << 19, kTable = 1 << 18, kBuffer = 1 << 20 };
struct piece {
  uint64_t time, cpu;
};
static struct piece* pieces[kMostThreads];
static uint64_t counts[kMostThreads], end_ns;

static void* work(void* argument) {
  const long self = (long)argument;
  uint32_t* table = (uint32_t*)calloc(kTable, sizeof *table);     // 1 MB
  uint32_t* buffer = (uint32_t*)calloc(kBuffer, sizeof *buffer);  // 4 MB
  uint32_t hash = 1;
  for (uint32_t i = 0; i < kBuffer; ++i) buffer[i] = i * 2654435761u;
  for (uint64_t n = 0; n < kMostPieces && clock_ns(CLOCK_MONOTONIC) < end_ns; ++n) {
    for (uint32_t i = 0; i < kSteps; ++i) {
      const uint32_t value = buffer[(i * 8 + n) % kBuffer];
      hash = hash * 31 + value;
      table[hash % kTable] += value ^ hash;
    }
    pieces[self][n] = (struct piece){clock_ns(CLOCK_MONOTONIC), thread_ns()};
    counts[self] = n + 1;
  }
  return (void*)(long)hash;
}

int main(int argc, char** argv) {
  const long threads = (long)number_argument(argc, argv, 1, 2);
  if (argc < 4 || threads < 1 || threads > kMostThreads) return 2;
  end_ns = clock_ns(CLOCK_MONOTONIC) + number_argument(argc, argv, 2, 1000) * 1000000u;
  pthread_t handles[kMostThreads];
  for (long i = 0; i < threads; ++i) {
    pieces[i] = (struct piece*)calloc(kMostPieces, sizeof **pieces);
    pthread_create(&handles[i], NULL, work, (void*)i);
  }
  for (long i = 0; i < threads; ++i) pthread_join(handles[i], NULL);
  FILE* file = fopen(argv[3], "w");
  if (!file) return 2;
  for (long i = 0; i < threads; ++i)
    for (uint64_t n = 0; n < counts[i]; ++n)
      fprintf(file, "%ld %lu %lu\n", i, pieces[i][n].time, pieces[i][n].cpu);
  return fclose(file) != 0;
}
