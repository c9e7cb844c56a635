// SPDX-License-Identifier: MIT
// Phases of 0, 1, 2, 4 and 0 active threads, the work of each in a function of its own, and a thread that sleeps all the
// time. Prints one line of JSON: when each thread really worked, by CLOCK_MONOTONIC, and what its schedstat says in the end,
// so that a test knows what the machine's own noise did. Not for samples: shapes.c. Context: test; recorded by e2e tests.
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

enum { kWorkers = 4, kPhases = 5 };
static const int kActive[kPhases] = {0, 1, 2, 4, 0};

static uint64_t phase_begin[kPhases + 1];
static struct {
  uint64_t begin[kPhases], end[kPhases];  // of work; 0: none
  uint64_t ran, ready;                    // schedstat
} worker[kWorkers];
static uint64_t slept;

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
static void sleep_until(uint64_t end) {
  struct timespec t = {(time_t)(end / 1000000000u), (long)(end % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, 0) == EINTR) continue;
}

// Not inlined, not merged, and no tail call: each is a frame.
#define WORK(name)                                             \
  __attribute__((noinline, noclone)) void name(uint64_t end) { \
    while (now() < end)                                        \
      for (volatile int i = 0; i < 1000; ++i) continue;        \
    __asm__ volatile("" ::"r"(#name));                         \
  }
WORK(alone)
WORK(in_pairs)
WORK(all_four)
static void (*const kWork[kPhases])(uint64_t) = {0, alone, in_pairs, all_four, 0};

static void* work(void* argument) {
  int number = (int)(intptr_t)argument;
  char name[16];
  snprintf(name, sizeof name, "worker-%d", number);
  prctl(PR_SET_NAME, name);
  for (int phase = 0; phase < kPhases; ++phase) {
    if (number >= kActive[phase]) {
      sleep_until(phase_begin[phase + 1]);
      continue;
    }
    worker[number].begin[phase] = now();
    kWork[phase](phase_begin[phase + 1]);
    worker[number].end[phase] = now();
  }
  unsigned long long ran = 0, ready = 0;
  FILE* file = fopen("/proc/thread-self/schedstat", "r");
  if (file && fscanf(file, "%llu %llu", &ran, &ready) != 2) ran = ready = 0;
  if (file) fclose(file);
  worker[number].ran = ran;
  worker[number].ready = ready;
  return 0;
}

static void* sleeper(void* none) {
  prctl(PR_SET_NAME, "sleeper");
  uint64_t begin = now();
  sleep_until(phase_begin[kPhases]);
  slept = now() - begin;
  return none;
}

static void print_numbers(const char* key, const uint64_t* numbers) {
  printf("\"%s\": [", key);
  for (int i = 0; i < kPhases; ++i) printf("%s%llu", i ? ", " : "", (unsigned long long)numbers[i]);
  printf("], ");
}

int main(int argc, char** argv) {
  uint64_t ms = argc > 1 ? strtoull(argv[1], 0, 10) : 500;
  phase_begin[0] = now();
  for (int i = 0; i < kPhases; ++i) phase_begin[i + 1] = phase_begin[i] + ms * 1000000u;
  pthread_t threads[kWorkers], sleeping;
  pthread_create(&sleeping, 0, sleeper, 0);
  for (int i = 0; i < kWorkers; ++i) pthread_create(&threads[i], 0, work, (void*)(intptr_t)i);
  for (int i = 0; i < kWorkers; ++i) pthread_join(threads[i], 0);
  pthread_join(sleeping, 0);
  printf("{\"slept\": %llu, \"workers\": [", (unsigned long long)slept);
  for (int i = 0; i < kWorkers; ++i) {
    printf("%s{", i ? ", " : "");
    print_numbers("begin", worker[i].begin);
    print_numbers("end", worker[i].end);
    printf("\"ran\": %llu, \"ready\": %llu}", (unsigned long long)worker[i].ran, (unsigned long long)worker[i].ready);
  }
  printf("], ");
  print_numbers("phases", phase_begin);
  printf("\"phase_ns\": %llu}\n", (unsigned long long)(ms * 1000000u));
  return 0;
}
