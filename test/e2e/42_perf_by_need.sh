#!/bin/bash
# SPDX-License-Identifier: MIT
# Which threads have ticks from performance events where nobody asked for them: below the kernel's tick those that last, from there on
# those that may work in step with it; and that a thread has an event where it can have no timer.
# alone
. "$(dirname "$0")/perf.inc"

# A thread that is over before its first 4 ms costs no event, whose page would be among the mappings, unless they are asked for; one
# that goes on has it, also where it works for less than a tick of the kernel's at a time.
build pages -lpthread <<'C'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static long cpu_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
static int read_pages(void) {
  char line[512];
  int count = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) count += strstr(line, "perf_event") != 0;
  fclose(maps);
  return count;
}
/// The list comes in parts: where a tick replaces an event's page between two of them it has both or neither, but hardly twice.
static int pages(void) {
  int count = read_pages(), before = -1;
  while (count != before) before = count, count = read_pages();
  return count;
}
static void* work(void* ms) {
  while (cpu_ms() < *(long*)ms) continue;
  *(long*)ms = pages();
  return 0;
}
static void* work_in_step(void* ms) {
  struct timespec now, tick, rest;
  clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  for (long worked = 0; worked < *(long*)ms; ++worked) {  // 1 ms after each tick
    clock_gettime(CLOCK_MONOTONIC, &now);
    rest = (struct timespec){0, tick.tv_nsec - now.tv_nsec % tick.tv_nsec};
    nanosleep(&rest, 0);
    struct timespec begin;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 1000000);
  }
  *(long*)ms = pages();
  return 0;
}
static long pages_of(void* (*how)(void*), long ms) {
  pthread_t thread;
  const long before = pages();
  if (pthread_create(&thread, 0, how, &ms) || pthread_join(thread, 0)) return -1;
  return ms - before;
}
/// Of a process whose thread goes on, by another clock, from one that had an event for long.
static int pages_of_child(void) {
  long ms = 150;
  work(&ms);
  usleep(1000), usleep(1000), usleep(1000);
  ms = 300;
  work(&ms);
  const pid_t child = fork();
  ms = 100;
  if (!child) work(&ms), _exit(pages());
  int status;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}
/// With a word also a brief one is to have an event.
int main(int count) {
  // One time of several: on a busy machine a brief one may be charged 4 ms, and others be switched so often that they go back to
  // their timers.
  int brief = 1, whole = 0, in_step = 0, child = 0;
  const int wanted = count > 1;
  for (int i = 0; i < 2 || (i < 5 && !(whole && in_step && child && brief == wanted)); ++i) {
    brief = brief && pages_of(work, 1) > 0;
    whole = whole || pages_of(work, 100) > 0;
    in_step = in_step || pages_of(work_in_step, 50) > 0;
    child = child || pages_of_child() > 0;
  }
  printf("%d %d %d %d\n", brief, whole, in_step, child);
}
C
record -q --interval 1ms -o pages.auto ./pages
expect_eq "events of a brief thread, a long one, one in step with the tick, and of a forked process" "$(tail -1 out)" "0 1 1 1"
record -q --interval 1ms --waits off -o pages.waits ./pages all
expect_eq "events without waits" "$(tail -1 out)" "1 1 1 1"
perf_profile pages.p 1ms ./pages all
expect_eq "events that were asked for" "$(tail -1 out)" "1 1 1 1"

# A thread in step gets an event; when it switches all the time it is to have its timer again, which a limit now forbids.
build limited <<'C'
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
static long clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}
static void work(long ns) {
  const long end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
  while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end) continue;
}
static void sleep_ns(long ns) { nanosleep(&(struct timespec){0, ns}, 0); }
int main(void) {
  prctl(PR_SET_TIMERSLACK, 1);
  for (int i = 0; i < 100; ++i) sleep_ns(3000000), work(1000000);
  setrlimit(RLIMIT_SIGPENDING, &(struct rlimit){0, 0});
  for (const long end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 900000000; clock_ns(CLOCK_THREAD_CPUTIME_ID) < end;) sleep_ns(1), work(20000);
  work(600000000);
}
C
by_default() {
  record -q -o p "$work/$1"
  if [ $1 = limited ]; then
    expect_match <("$VARVE" report quality p) '^1 time a thread got performance events'
    holds "time in samples where no timer can be had again" "$(summary sampled_ns p) >= 0.9 * $(summary cpu_ns p)"
  else
    expect_eq "events at the default interval, of who may be in step alone" "$(tail -1 out)" "0 0 1 0"
    expect_match <("$VARVE" report quality p) '^Timer +CPU timers, and performance events where threads wait often'
  fi
}
mkdir two && cd two || exit 1
at_once by_default limited pages
cd ..

# Who is refused a timer from the start has an event instead, also where it does not wait.
run bash -c 'ulimit -i 0; exec "$@"' setup "$VARVE" record -q -o no.timers "$programs/busy_threads" 2 400
expect_eq "exit code without timers" $code 0
holds "time in samples without timers" "$(summary sampled_ns no.timers) >= 0.9 * $(summary cpu_ns no.timers)"
report quality no.timers
expect_eq "exit code of the quality without timers" $code 0
expect_no_match out 'refused a timer'
