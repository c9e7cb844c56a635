// SPDX-License-Identifier: MIT
// calls_micro: what calls take that varve stands before, one line each: name, a tab, ns a call (the fastest
// of some rounds). The same program bare and recorded shows what the hooks cost. "deep N": a recursion of N
// frames that runs for a second, for the handler's own account. Context: micro benchmarks.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "test/programs/work.h"

#define ROUNDS 25

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static int zero, null, pipes[2];

static void mutex_pair(void) { pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex); }
static void rwlock_pair(void) { pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock); }
static void semaphore_pair(void) { sem_post(&semaphore), sem_wait(&semaphore); }
static void signal_nobody(void) { pthread_cond_signal(&condition); }
static void init_and_destroy(void) {
  pthread_mutex_t made;
  pthread_mutex_init(&made, NULL);
  pthread_mutex_destroy(&made);
}
static void read_file(void) {
  char byte;
  if (read(zero, &byte, 1) != 1) abort();
}
static void write_file(void) {
  if (write(null, "", 1) != 1) abort();
}
static void pipe_pair(void) {
  char byte = 0;
  if (write(pipes[1], &byte, 1) != 1 || read(pipes[0], &byte, 1) != 1) abort();
}
static void poll_ready(void) {
  struct pollfd one = {.fd = zero, .events = POLLIN};
  if (poll(&one, 1, -1) != 1) abort();
}
static void block_signals(void) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}
static void* nothing(void* argument) { return argument; }
static void thread_and_join(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, nothing, NULL)) abort();
  pthread_join(thread, NULL);
}
static void load_and_unload(void) {
  void* library = dlopen("libm.so.6", RTLD_NOW);
  if (!library) abort();
  dlclose(library);
}
static void fork_and_wait(void) {
  int status;
  pid_t child = fork();
  if (child == 0) _exit(0);
  if (child < 0 || waitpid(child, &status, 0) != child) abort();
}

static const struct {
  const char* name;
  void (*call)(void);
  uint64_t calls;  // a round
} kCalls[] = {
    {"mutex, free, locked and unlocked", mutex_pair, 200000},
    {"rwlock, free, read and unlocked", rwlock_pair, 200000},
    {"semaphore, posted and taken", semaphore_pair, 200000},
    {"condition signalled, nobody waits", signal_nobody, 200000},
    {"mutex made and destroyed", init_and_destroy, 100000},
    {"read of a byte", read_file, 20000},
    {"write of a byte", write_file, 20000},
    {"byte through a pipe", pipe_pair, 10000},
    {"poll of what is ready", poll_ready, 20000},
    {"signals blocked and let in", block_signals, 20000},
    {"library opened again and closed", load_and_unload, 5000},
    {"thread made and joined", thread_and_join, 300},
    {"child made and waited for", fork_and_wait, 50},
};

static double cost_of(void (*call)(void), uint64_t calls) {
  double least = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    for (uint64_t i = 0; i < calls; ++i) call();
    const double each = (double)(clock_ns(CLOCK_MONOTONIC) - begin) / (double)calls;
    if (round == 0 || each < least) least = each;
  }
  return least;
}

static void measure(const char* threads) {
  for (size_t i = 0; i < sizeof kCalls / sizeof *kCalls; ++i)
    printf("%s%s\t%.1f\n", kCalls[i].name, threads, cost_of(kCalls[i].call, kCalls[i].calls));
}

static uint64_t burn(uint64_t depth) {
  uint64_t x = 1;
  if (depth)
    x = burn(depth - 1);
  else
    for (uint64_t end = thread_ns() + 1000000000u; thread_ns() < end;) SPIN(x, STEPS_PER_MS);
  __asm__ volatile("" : "+r"(x));  // no tail call
  return x;
}

int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[1], "deep") == 0) return burn(number_argument(argc, argv, 2, 0)) == 0;
  zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
  if (zero < 0 || null < 0 || pipe(pipes) || sem_init(&semaphore, 0, 0)) return 2;
  measure("");
  // A second thread, that only waits: the C library's locks are atomic from now on.
  pthread_t other;
  pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&held);
  if (pthread_create(&other, NULL, (void* (*)(void*))pthread_mutex_lock, &held)) return 2;
  usleep(20000);
  for (size_t i = 0; i < 4; ++i)
    printf("%s, two threads\t%.1f\n", kCalls[i].name, cost_of(kCalls[i].call, kCalls[i].calls));
  pthread_mutex_unlock(&held);
  pthread_join(other, NULL);
  return 0;
}
