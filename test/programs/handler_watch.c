// SPDX-License-Identifier: MIT
// flags: -fno-builtin
// handler_watch malloc|stack|plain: its malloc aborts when it is called while a SIGPROF handler runs, which
// it knows from SIGPROF being blocked; or threads with the smallest stacks there are work under ticks and
// check that nothing was written below them. Context: tests 51, 57. The compiler must not think that it knows
// what malloc does.
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "work.h"

extern void* __libc_malloc(size_t);
static int watching;
static uint64_t checked;

void* malloc(size_t size) {
  uint64_t blocked = 0;
  if (watching) {
    // The kernel's word, not a hook's.
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof blocked);
    if (blocked >> (SIGPROF - 1) & 1) abort();
    __atomic_fetch_add(&checked, 1, __ATOMIC_RELAXED);
  }
  return __libc_malloc(size);
}

static void* small_thread(void* argument) {
  volatile uint64_t x = 29;
  uint64_t y = x;
  SPIN(y, 100 * STEPS_PER_MS);
  *(uint64_t*)argument = thread_ns();
  x = y;
  return NULL;
}

/// Bytes of a thread's stack that were used: its memory was filled with a pattern before.
static size_t used_bytes(const unsigned char* stack, size_t size) {
  size_t untouched = 0;
  while (untouched < size && stack[untouched] == 0xa5) ++untouched;
  return size - untouched;
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  if (!strcmp(kind, "malloc")) {
    uint64_t x = 31;
    watching = 1;
    for (int i = 0; i < 2000; ++i) {
      void* memory = malloc(64 + (x & 1023));
      SPIN(x, STEPS_PER_MS / 5);
      free(memory);
    }
    watching = 0;
    printf("{\"checked\": %d}\n", checked >= 2000);
    return 0;
  }
  size_t size = (size_t)sysconf(_SC_THREAD_STACK_MIN), most = 0;
  if (size < PTHREAD_STACK_MIN) size = PTHREAD_STACK_MIN;
  for (int i = 0; i < 4; ++i) {
    pthread_t thread;
    pthread_attr_t attributes;
    uint64_t cpu = 0;
    unsigned char* stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(stack, 0xa5, size);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, size);
    if (pthread_create(&thread, &attributes, small_thread, &cpu) || pthread_join(thread, NULL) || !cpu)
      return 1;
    size_t used = used_bytes(stack, size);
    most = used > most ? used : most;
  }
  printf("{\"size\": %zu, \"used\": %zu}\n", size, most);
}
