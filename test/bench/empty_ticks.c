// SPDX-License-Identifier: MIT
// Preloaded instead of a profiler: ticks of the first thread's CPU time by the same events as varve's at
// intervals below the scheduler's, EMPTY_TICKS_US apart, with a handler that does no more than count. What a
// program takes more with it is the timer's interrupts, the signals and the returns from them. For programs
// of one thread. A program that had less than nine tenths of the ticks ends with 125. Context: make bench.
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long ticks;
static unsigned long long interval_ns;
static struct timespec began;
static pid_t process; /* a forked child has no ticks */

static void take_tick(int number) {
  (void)number;
  ++ticks;
}

static unsigned long long cpu_ns_since(struct timespec then) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (now.tv_sec - then.tv_sec) * 1000000000LL + (now.tv_nsec - then.tv_nsec);
}

/* Kept by its page alone, as varve does: a descriptor would be the program's next number. */
static int begin_ticks(void) {
  struct perf_event_attr event = {.size = sizeof event,
                                  .type = PERF_TYPE_SOFTWARE,
                                  .config = PERF_COUNT_SW_TASK_CLOCK,
                                  .exclude_hv = 1,
                                  .sigtrap = 1,
                                  .remove_on_exec = 1};
  event.sample_period = interval_ns;
  const int descriptor = (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (descriptor < 0) return -1;
  void* page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, descriptor, 0);
  close(descriptor);
  return page == MAP_FAILED ? -1 : 0;
}

__attribute__((constructor)) static void begin(void) {
  const struct sigaction action = {.sa_handler = take_tick, .sa_flags = SA_RESTART};
  const char* interval = getenv("EMPTY_TICKS_US");
  interval_ns = 1000ULL * (interval ? strtoull(interval, NULL, 10) : 0);
  process = getpid();
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &began);
  if (interval_ns == 0 || (sigaction(SIGTRAP, &action, NULL) == 0 && begin_ticks() == 0)) return;
  perror("empty_ticks");
  _exit(126);
}

__attribute__((destructor)) static void end(void) {
  const unsigned long long due = interval_ns ? cpu_ns_since(began) / interval_ns : 0;
  if (getpid() != process || ticks * 10 + 10 >= due * 9) return;
  fprintf(stderr, "empty_ticks: %lu ticks of %llu\n", ticks, due);
  _exit(125);
}
