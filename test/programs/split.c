// SPDX-License-Identifier: MIT
// split [MS]: three quarters of the time in heavy(), one quarter in light(), in turns of uneven length so
// that no rhythm of ticks fits them. Prints what each cost by the thread's own clock. Context: test 40.
#include "work.h"

static uint64_t x = 88172645463325252u;

__attribute__((noinline)) static void heavy(uint64_t steps) { SPIN(x, steps); }
__attribute__((noinline)) static void light(uint64_t steps) { SPIN(x, steps + 1); }  // or the two become one

int main(int argc, char** argv) {
  uint64_t left = number_argument(argc, argv, 1, 1000) * STEPS_PER_MS, random = 42, heavy_ns = 0,
           light_ns = 0;
  while (left > 0) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    uint64_t unit = STEPS_PER_MS / 4 + (random >> 33) % STEPS_PER_MS;
    if (unit * 4 > left) unit = (left + 3) / 4;
    left -= unit * 4 < left ? unit * 4 : left;
    uint64_t begin = thread_ns();
    heavy(unit * 3);
    uint64_t middle = thread_ns();
    light(unit);
    heavy_ns += middle - begin;
    light_ns += thread_ns() - middle;
  }
  printf("{\"heavy\": %lu, \"light\": %lu, \"result\": %lu}\n", heavy_ns, light_ns, x & 1);
}
