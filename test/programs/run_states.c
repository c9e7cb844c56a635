// SPDX-License-Identifier: MIT
// Threads that do a known thing for a known time, for the tests of run states. Prints one line of JSON: what it did, by its
// own clocks. Not a source of samples to be attributed: shapes.c and busy_threads.c are.
// Context: test; recorded by e2e tests.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
static uint64_t now(void) { return now_of(CLOCK_MONOTONIC); }

static void spin_until(uint64_t end) {
  while (now() < end)
    for (volatile int i = 0; i < 1000; ++i) continue;
}
static void sleep_ns(uint64_t ns) {
  struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
  while (nanosleep(&t, &t) != 0 && errno == EINTR) continue;
}

// --- phases MS: 0, 1, 2 and 4 threads are active for MS each -------------------------------------------------------------------
static const int kPhases[] = {0, 1, 2, 4};
enum { kPhaseCount = 4 };
static uint64_t phase_begin[kPhaseCount + 1];

static void* phase_worker(void* argument) {
  int number = (int)(intptr_t)argument;
  char name[16];
  snprintf(name, sizeof name, "worker-%d", number);
  prctl(PR_SET_NAME, name);
  for (int phase = 0; phase < kPhaseCount; ++phase) {
    uint64_t at = now();
    if (number < kPhases[phase]) spin_until(phase_begin[phase + 1]);
    else if (phase_begin[phase + 1] > at) sleep_ns(phase_begin[phase + 1] - at);
  }
  return 0;
}

static int phases(uint64_t ms) {
  phase_begin[0] = now();
  for (int i = 0; i < kPhaseCount; ++i) phase_begin[i + 1] = phase_begin[i] + ms * 1000000u;
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], 0, phase_worker, (void*)(intptr_t)i);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], 0);
  printf("{\"begin\": [");
  for (int i = 0; i <= kPhaseCount; ++i) printf("%s%llu", i ? ", " : "", (unsigned long long)phase_begin[i]);
  printf("], \"active\": [0, 1, 2, 4]}\n");
  return 0;
}

// --- waits MS: a thread for each kind of wait, all at once ------------------------------------------------------------------------
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ends[2];
static int done;
static pthread_t sleeper;
static uint64_t wait_ns;

static void* wait_sleep(void* none) {
  prctl(PR_SET_NAME, "sleep");
  sleep_ns(wait_ns);
  return none;
}
static void* wait_lock(void* none) {
  prctl(PR_SET_NAME, "lock");
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  return none;
}
static void* wait_condition(void* none) {
  prctl(PR_SET_NAME, "condition");
  pthread_mutex_lock(&other);
  while (!done) pthread_cond_wait(&condition, &other);
  pthread_mutex_unlock(&other);
  return none;
}
static void* wait_io(void* none) {
  prctl(PR_SET_NAME, "io");
  char byte;
  return read(ends[0], &byte, 1) == 1 ? none : none;
}
static void* wait_join(void* none) {
  prctl(PR_SET_NAME, "join");
  pthread_join(sleeper, 0);
  return none;
}
static void* wait_child(void* none) {
  prctl(PR_SET_NAME, "child");
  pid_t child = fork();
  if (child == 0) {
    sleep_ns(wait_ns);
    _exit(0);
  }
  waitpid(child, 0, 0);
  return none;
}

static int waits(uint64_t ms) {
  wait_ns = ms * 1000000u;
  if (pipe(ends) != 0) return 1;
  void* (*const kinds[])(void*) = {wait_lock, wait_condition, wait_io, wait_join, wait_child};
  pthread_t threads[5];
  pthread_mutex_lock(&mutex);
  pthread_create(&sleeper, 0, wait_sleep, 0);
  for (int i = 0; i < 5; ++i) pthread_create(&threads[i], 0, kinds[i], 0);
  sleep_ns(wait_ns);
  pthread_mutex_unlock(&mutex);
  pthread_mutex_lock(&other);
  done = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&other);
  if (write(ends[1], "x", 1) != 1) return 1;
  for (int i = 0; i < 5; ++i) pthread_join(threads[i], 0);
  printf("{\"wait_ns\": %llu}\n", (unsigned long long)wait_ns);
  return 0;
}

// --- switches N PAIRS: each pair of threads hands a token to and fro N times -----------------------------------------------------
struct pair {
  int there, back;  // eventfds
  uint64_t rounds;
};

static void* switch_here(void* argument) {
  struct pair* pair = argument;
  uint64_t value = 1;
  for (uint64_t i = 0; i < pair->rounds; ++i)
    if (write(pair->there, &value, 8) != 8 || read(pair->back, &value, 8) != 8) break;
  return 0;
}
static void* switch_there(void* argument) {
  struct pair* pair = argument;
  uint64_t value = 1;
  for (uint64_t i = 0; i < pair->rounds; ++i)
    if (read(pair->there, &value, 8) != 8 || write(pair->back, &value, 8) != 8) break;
  return 0;
}

static int switches(uint64_t rounds, uint64_t pairs) {
  enum { kMost = 64 };
  static struct pair all[kMost];
  static pthread_t threads[2 * kMost];
  if (pairs > kMost) pairs = kMost;
  uint64_t begin = now();
  for (uint64_t i = 0; i < pairs; ++i) {
    all[i] = (struct pair){eventfd(0, 0), eventfd(0, 0), rounds};
    pthread_create(&threads[2 * i], 0, switch_here, &all[i]);
    pthread_create(&threads[2 * i + 1], 0, switch_there, &all[i]);
  }
  for (uint64_t i = 0; i < 2 * pairs; ++i) pthread_join(threads[i], 0);
  printf("{\"rounds\": %llu, \"elapsed_ns\": %llu}\n", (unsigned long long)(rounds * pairs), (unsigned long long)(now() - begin));
  return 0;
}

// --- threads N MS, processes N MS: that many, each of which works for 3 or 5 ms and then waits for MS ---------------------------
static atomic_ullong worked;
static uint64_t work_ns, live_ns;

static void work_and_wait(void) {
  while (now_of(CLOCK_THREAD_CPUTIME_ID) < work_ns)
    for (volatile int i = 0; i < 10000; ++i) continue;
  sleep_ns(live_ns);
  atomic_fetch_add(&worked, now_of(CLOCK_THREAD_CPUTIME_ID));
}
static void* worker(void* none) {
  work_and_wait();
  return none;
}

static int many_threads(uint64_t count, uint64_t ms) {
  work_ns = 3000000u;
  live_ns = ms * 1000000u;
  pthread_t* threads = calloc(count, sizeof *threads);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 * 1024);
  uint64_t made = 0;
  for (; made < count; ++made)
    if (pthread_create(&threads[made], &attributes, worker, 0) != 0) break;
  for (uint64_t i = 0; i < made; ++i) pthread_join(threads[i], 0);
  printf("{\"made\": %llu, \"cpu_ns\": %llu}\n", (unsigned long long)made, (unsigned long long)atomic_load(&worked));
  return 0;
}

static int many_processes(uint64_t count, uint64_t ms) {
  work_ns = 5000000u;
  live_ns = ms * 1000000u;
  uint64_t made = 0;
  for (; made < count; ++made) {
    pid_t child = fork();
    if (child < 0) break;
    if (child > 0) continue;
    work_and_wait();
    _exit(0);
  }
  while (wait(0) > 0) continue;
  printf("{\"made\": %llu}\n", (unsigned long long)made);
  return 0;
}

// --- moves MS: works on the first processor for MS and, with another name, four times MS, on the last for MS, on the first again ---
static void work_on(int processor, uint64_t ms) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  sched_setaffinity(0, sizeof one, &one);
  spin_until(now() + ms * 1000000u);
}

static int moves(uint64_t ms) {
  cpu_set_t usable;
  sched_getaffinity(0, sizeof usable, &usable);
  int first = 0, last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(first, &usable)) ++first;
  while (!CPU_ISSET(last, &usable)) --last;
  work_on(first, ms);
  prctl(PR_SET_NAME, "renamed");
  work_on(first, 4 * ms);
  work_on(last, ms);
  work_on(first, ms);
  printf("{\"processors\": [%d, %d]}\n", first, last);
  return 0;
}

// --- exec MS: a thread that is not the first works, and executes this program again, which works as long in its only thread;
// exec MS 0: the first has left by then ------
static char** exec_arguments;

static void* executes(void* none) {
  prctl(PR_SET_NAME, "executes");
  spin_until(now() + wait_ns);
  execv("/proc/thread-self/exe", exec_arguments);
  return none;
}

static int exec_elsewhere(char** argv, uint64_t ms, int leave) {
  static char step[] = "spin";
  wait_ns = ms * 1000000u;
  exec_arguments = argv;
  argv[1] = step;
  pthread_t thread;
  pthread_create(&thread, 0, executes, 0);
  if (leave) pthread_exit(0);
  pthread_join(thread, 0);
  return 1;
}

static int spin(uint64_t ms) {
  spin_until(now() + ms * 1000000u);
  printf("{\"cpu_ns\": %llu}\n", (unsigned long long)now_of(CLOCK_PROCESS_CPUTIME_ID));
  return 0;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  uint64_t first = argc > 2 ? strtoull(argv[2], 0, 10) : 100, second = argc > 3 ? strtoull(argv[3], 0, 10) : 1;
  if (!strcmp(what, "phases")) return phases(first);
  if (!strcmp(what, "waits")) return waits(first);
  if (!strcmp(what, "switches")) return switches(first, second);
  if (!strcmp(what, "threads")) return many_threads(first, second);
  if (!strcmp(what, "processes")) return many_processes(first, second);
  if (!strcmp(what, "exec")) return exec_elsewhere(argv, first, second == 0);
  if (!strcmp(what, "moves")) return moves(first);
  if (!strcmp(what, "spin")) return spin(first);
  fprintf(stderr, "run_states phases MS|waits MS|switches N PAIRS|threads N MS|processes N MS|exec MS [0]|moves MS|spin MS\n");
  return 2;
}
