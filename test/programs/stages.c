// SPDX-License-Identifier: MIT
// stages: spins in first() until a file leave1 exists, then in second() until leave2, then in third() until
// leave3; makes in1, in2 and in3 as it goes; prints the CPU time of each. Context: test 85.
#include <fcntl.h>

#include "work.h"

/// The CPU time spent in it, in ns.
#define STAGE(name, number)                                               \
  __attribute__((noinline)) static uint64_t name(void) {                  \
    uint64_t x = 1, begin = thread_ns();                                  \
    close(open("in" number, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));       \
    while (access("leave" number, F_OK) != 0) SPIN(x, STEPS_PER_MS / 4);  \
    return thread_ns() - begin;                                           \
  }
STAGE(first, "1")
STAGE(second, "2")
STAGE(third, "3")

int main(void) {
  const uint64_t one = first(), two = second(), three = third();
  printf("{\"first\": %lu, \"second\": %lu, \"third\": %lu}\n", one, two, three);
}
