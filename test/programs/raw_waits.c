// SPDX-License-Identifier: MIT
// raw_waits WHAT: a thread that waits by system calls of its own, which no hook sees, ten times for 100 ms,
// and measures that itself: outer() calls middle() calls inner(), which asks the kernel. WHAT is futex, read,
// sleep; framed (as futex, through functions whose frames are found by rbp alone); deep (a recursion of 5000
// calls above); nowhere (the stack pointer leads to no memory meanwhile); secret (the process may not be
// looked at). The last line is JSON: how many waits there were, how long they took together, and the address
// of the futex. Context: tests.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kRounds = 10, kMs = 100, kDeep = 5000 };

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// In place of syscall(), which hooks see.
static inline __attribute__((always_inline)) long call_kernel(long number, long a, long b, long c, long d) {
  long result;
  register long r10 __asm__("r10") = d;
  __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return result;
}

static int word, go_on, pipes[2];
static volatile uint64_t waits, waited_ns;

static void pause_raw(void) {
  struct timespec time = {0, kMs * 1000000};
  call_kernel(SYS_nanosleep, (long)&time, 0, 0, 0);
}

static inline __attribute__((always_inline)) void wait_for_word(void) {
  while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE)) call_kernel(SYS_futex, (long)&word, FUTEX_WAIT_PRIVATE, 0, 0);
}

static __attribute__((noinline)) void inner(char what) {
  char byte;
  const uint64_t begin = now();
  if (what == 'r') call_kernel(SYS_read, pipes[0], (long)&byte, 1, 0);
  if (what == 's') pause_raw();
  if (what != 'r' && what != 's') wait_for_word();
  waited_ns += now() - begin;
  ++waits;
}
static __attribute__((noinline)) void middle(char what) {
  inner(what);
  __asm__ volatile("");
}
static __attribute__((noinline)) void outer(char what) {
  middle(what);
  __asm__ volatile("");
}

static __attribute__((noinline, optimize("O0"))) void framed_inner(void) {
  volatile char room[200];
  room[0] = 1;
  const uint64_t begin = now();
  while (!word) call_kernel(SYS_futex, (long)&word, FUTEX_WAIT_PRIVATE, 0, 0);
  waited_ns += now() - begin;
  ++waits;
}
static __attribute__((noinline, optimize("O0"))) void framed_middle(void) { framed_inner(); }
static __attribute__((noinline, optimize("O0"))) void framed_outer(void) { framed_middle(); }

static __attribute__((noinline)) void deeper(int depth) {
  if (depth == 0) outer('f');
  if (depth > 0) deeper(depth - 1);
  __asm__ volatile("");
}

// What the kernel does for a futex it does without the stack.
static __attribute__((noinline)) void nowhere(void) {
  const uint64_t begin = now();
  while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE)) {
    long result;
    register long r10 __asm__("r10") = 0;
    __asm__ volatile(
        "mov %%rsp, %%r12\n\tmov $0x1000, %%esp\n\tsyscall\n\tmov %%r12, %%rsp"
        : "=a"(result)
        : "0"((long)SYS_futex), "D"(&word), "S"((long)FUTEX_WAIT_PRIVATE), "d"(0l), "r"(r10)
        : "rcx", "r11", "r12", "memory");
  }
  waited_ns += now() - begin;
  ++waits;
}

static void* work(void* what) {
  for (int round = 0; round < kRounds; ++round) {
    __atomic_store_n(&word, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&go_on, 1, __ATOMIC_SEQ_CST);
    if (!strcmp(what, "framed")) framed_outer();
    else if (!strcmp(what, "deep")) deeper(kDeep);
    else if (!strcmp(what, "nowhere")) nowhere();
    else outer(*(const char*)what);
  }
  return 0;
}

int main(int count, char** arguments) {
  char* what = count > 1 ? arguments[1] : "futex";
  pthread_t thread;
  if (pipe(pipes) != 0) return 1;
  if (!strcmp(what, "secret")) prctl(PR_SET_DUMPABLE, 0), what = "futex";
  pthread_create(&thread, 0, work, what);
  pthread_setname_np(thread, "waiter");
  for (int round = 0; round < kRounds; ++round) {
    while (!__atomic_exchange_n(&go_on, 0, __ATOMIC_SEQ_CST)) {
    }
    if (*what != 's') pause_raw();
    if (*what == 'r' && write(pipes[1], "", 1) != 1) return 1;
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    call_kernel(SYS_futex, (long)&word, FUTEX_WAKE_PRIVATE, 1, 0);
  }
  pthread_join(thread, 0);
  printf("{\"waits\": %llu, \"waited_ns\": %llu, \"word\": %llu}\n", (unsigned long long)waits,
         (unsigned long long)waited_ns, (unsigned long long)(uintptr_t)&word);
  return 0;
}
