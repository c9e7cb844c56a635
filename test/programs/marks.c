// SPDX-License-Identifier: MIT
// marks [MS]: pauses itself for the middle one of three phases of MS ms of CPU time each, and marks where it is;
// prints what each phase cost by the thread's own clock. marks many: more marks than anybody keeps. C and C++.
// Context: test 84.
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>

#include "../../agent/varve.h"
#include "work.h"

#define PHASE(name)                                                     \
  __attribute__((noinline)) static void name(uint64_t ms) {             \
    uint64_t x = ms + 1;                                                \
    const uint64_t end = thread_ns() + ms * 1000000u;                   \
    while (thread_ns() < end) SPIN(x, STEPS_PER_MS / 10);               \
  }
PHASE(counted)
PHASE(left_out)
PHASE(left_out_in_child)
PHASE(counted_again)

__attribute__((constructor)) static void before_main(void) { varve_mark("early"); }

static void* mark_in_thread(void* name) {
  varve_mark((const char*)name);
  return NULL;
}

static void mark_many(void) {
  for (int i = 0; i < 200000; ++i) varve_mark("again and again");
}

/// A forked child is paused as its parent is.
static void paused_child(uint64_t ms) {
  const pid_t child = fork();
  if (child == 0) {
    varve_mark("child");
    left_out_in_child(ms);
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "many") == 0) {
    mark_many();
    return 0;
  }
  const uint64_t ms = number_argument(argc, argv, 1, 300);
  uint64_t clocks[4];
  varve_mark("begin");
  clocks[0] = thread_ns();
  counted(ms);
  clocks[1] = thread_ns();
  varve_mark("pause");
  varve_pause();
  varve_pause();  // one pause all the same
  left_out(ms);
  paused_child(ms);
  clocks[2] = thread_ns();
  varve_resume();
  varve_mark("resume");
  counted_again(ms);
  clocks[3] = thread_ns();
  pthread_t thread;
  pthread_create(&thread, NULL, mark_in_thread, (void*)"in a thread");
  pthread_join(thread, NULL);
  varve_mark("");
  varve_mark(NULL);
  varve_mark(
      "a long name, of which 120 bytes are kept, and no part of a character: "
      "...............................................\xc3\xa4\xc3\xa4\xc3\xa4");
  varve_mark("odd \x1b[31m\nname");
  printf("{\"before\": %lu, \"paused\": %lu, \"after\": %lu}\n", clocks[1] - clocks[0], clocks[2] - clocks[1],
         clocks[3] - clocks[2]);
  return 0;
}
