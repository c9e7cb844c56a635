// SPDX-License-Identifier: MIT
// Work that is the same each time, and the clocks that say what it cost: what every test program starts from.
// SPIN is a macro, so that the time is spent in the very function that uses it, inlined or not.
// Context: test programs in C and C++.
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/// About a millisecond of a processor of 2020; the tests never rely on it.
#define STEPS_PER_MS 400000ull

/// xorshift64: each step waits for the one before.
#define SPIN(x, steps)                                     \
  do {                                                     \
    for (uint64_t left_ = (steps); left_; --left_) {       \
      (x) ^= (x) << 13, (x) ^= (x) >> 7, (x) ^= (x) << 17; \
      __asm__ volatile("" : "+r"(x));                      \
    }                                                      \
  } while (0)

static inline uint64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
static inline uint64_t thread_ns(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }
static inline uint64_t process_ns(void) { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

/// The number in argument `index`, or `otherwise`.
static inline uint64_t number_argument(int argc, char** argv, int index, uint64_t otherwise) {
  return index < argc ? strtoull(argv[index], NULL, 10) : otherwise;
}
