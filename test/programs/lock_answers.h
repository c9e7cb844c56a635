// SPDX-License-Identifier: MIT
// Prints what calls of locks answer, and has the moments until which they wait. Context: lock_results.c and
// its parts.
#pragma once

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char* subject;
static void say(const char* what, int result) { printf("%-22s %-34s %d\n", subject, what, result); }
#define SAY(call) say(#call, (call))
#define SAY_ERRNO(call) say(#call, (call) == 0 ? 0 : errno)

static struct timespec after(clockid_t clock, long ns) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_nsec += ns;
  time.tv_sec += time.tv_nsec / 1000000000;
  time.tv_nsec %= 1000000000;
  return time;
}
/// A moment that is soon over, one that long is, and none at all.
static const struct timespec* soon(clockid_t clock) {
  static _Thread_local struct timespec time;
  time = after(clock, 3000000);
  return &time;
}
static const struct timespec kPast = {1, 0}, kWrong = {1, -5};

/// Runs `routine` in a thread of its own, to its end.
static void in_thread(void* (*routine)(void*), void* argument) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, routine, argument) || pthread_join(thread, NULL)) exit(3);
}
