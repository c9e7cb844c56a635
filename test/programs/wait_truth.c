// SPDX-License-Identifier: MIT
// wait_truth WHAT: threads that wait for one kind of object, a known number of times, and measure each wait
// themselves. The last line is JSON: how many waits of the object there were, how long they took together,
// and the name of the thread that ended them. Context: tests.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kRounds = 20 };

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void spin(unsigned ms) {
  const uint64_t end = now() + ms * 1000000ull;
  while (now() < end) {
  }
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier, start;
static sem_t semaphore;
static int turn;
static uint64_t waits, waited_ns;

// What the waiter does; the macro keeps each wait on a line of its own.
#define TIMED(call)                 \
  do {                              \
    const uint64_t begin = now();   \
    call;                           \
    waited_ns += now() - begin;     \
    ++waits;                        \
  } while (0)

static void meet(void) { pthread_barrier_wait(&start); }

static void mutex_waiter(void) {
  TIMED(pthread_mutex_lock(&lock));
  pthread_mutex_unlock(&lock);
}
static void mutex_holder(void) { spin(8), pthread_mutex_unlock(&lock); }

static void condition_waiter(void) {
  pthread_mutex_lock(&lock);
  while (!turn) TIMED(pthread_cond_wait(&changed, &lock));
  turn = 0;
  pthread_mutex_unlock(&lock);
}
static void condition_holder(void) {
  spin(8);
  pthread_mutex_lock(&lock);
  turn = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
}

static void reader(void) {
  TIMED(pthread_rwlock_rdlock(&rwlock));
  pthread_rwlock_unlock(&rwlock);
}
static void writer(void) { spin(8), pthread_rwlock_unlock(&rwlock); }

static void semaphore_waiter(void) { TIMED(sem_wait(&semaphore)); }
static void semaphore_holder(void) { spin(8), sem_post(&semaphore); }

static void early(void) { TIMED(pthread_barrier_wait(&barrier)); }
static void late(void) { spin(8), pthread_barrier_wait(&barrier); }

static void sleeper(void) {
  struct timespec time = {0, 8000000};
  TIMED(nanosleep(&time, 0));
}
static void nothing(void) {}

struct Kind {
  const char* name;
  void (*waiter)(void);
  void (*holder)(void);
};
static const struct Kind kinds[] = {{"mutex", mutex_waiter, mutex_holder},
                                    {"condition", condition_waiter, condition_holder},
                                    {"rwlock", reader, writer},
                                    {"semaphore", semaphore_waiter, semaphore_holder},
                                    {"barrier", early, late},
                                    {"sleep", sleeper, nothing}};
static const struct Kind* kind;

// How long this thread was ready and had no processor: its own clock counts that after each wait.
static unsigned long ready_ns;
static void read_ready(void) {
  FILE* file = fopen("/proc/thread-self/schedstat", "r");
  if (!file || fscanf(file, "%*u %lu", &ready_ns) != 1) ready_ns = 0;
  if (file) fclose(file);
}

static void* wait_for_it(void* unused) {
  for (int i = 0; i < kRounds; ++i) meet(), kind->waiter(), meet();
  read_ready();
  return unused;
}

// Takes what the waiter will wait for before both meet; they meet again once the waiter has it no more.
static void* let_go(void* unused) {
  for (int i = 0; i < kRounds; ++i) {
    if (kind->holder == mutex_holder) pthread_mutex_lock(&lock);
    if (kind->holder == writer) pthread_rwlock_wrlock(&rwlock);
    meet();
    kind->holder();
    meet();
  }
  return unused;
}

int main(int count, char** words) {
  for (size_t i = 0; count == 2 && i < sizeof kinds / sizeof *kinds; ++i)
    if (!strcmp(kinds[i].name, words[1])) kind = &kinds[i];
  if (!kind) return 2;
  pthread_barrier_init(&barrier, 0, 2);
  pthread_barrier_init(&start, 0, 2);
  sem_init(&semaphore, 0, 0);
  pthread_t waiter, holder;
  pthread_create(&waiter, 0, wait_for_it, 0);
  pthread_setname_np(waiter, "waiter");
  pthread_create(&holder, 0, let_go, 0);
  pthread_setname_np(holder, "holder");
  pthread_join(waiter, 0);
  pthread_join(holder, 0);
  printf("{\"waits\": %lu, \"waited_ns\": %lu, \"ready_ns\": %lu}\n", (unsigned long)waits,
         (unsigned long)waited_ns, ready_ns);
  return 0;
}
