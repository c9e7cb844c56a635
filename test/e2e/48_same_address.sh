#!/bin/bash
# SPDX-License-Identifier: MIT
# D-11: one library is unloaded and another takes its addresses: the samples go to the one that was there at the time.
. "$(dirname "$0")/agent.inc"

for letter in a b; do
  gcc -x c -O1 -g -shared -fPIC -I"$root" -o lib$letter.so - <<E || fail "cannot compile lib$letter"
#include "test/programs/work.h"
__attribute__((noinline)) static uint64_t work_in_$letter(uint64_t x) { SPIN(x, 300 * STEPS_PER_MS); return x; }
uint64_t run(uint64_t x) { return work_in_$letter(x) + 1; }
E
done
build load -I"$root" -ldl <<'E'
#include <dlfcn.h>
#include "test/programs/work.h"
int main(int argc, char** argv) {
  uint64_t x = 5, cost[2] = {0, 0}, where[2];
  for (int i = 0; i < 4; ++i) {
    void* library = dlopen(argv[1 + i % 2], RTLD_NOW);
    uint64_t (*run)(uint64_t) = (uint64_t (*)(uint64_t))dlsym(library, "run");
    uint64_t begin = thread_ns();
    x = run(x);
    cost[i % 2] += thread_ns() - begin;
    where[i % 2] = (uint64_t)run;
    dlclose(library);
  }
  printf("{\"a\": %lu, \"b\": %lu, \"same\": %d}\n", cost[0], cost[1], where[0] == where[1]);
}
E
profile same ./load ./liba.so ./libb.so
expect_eq "the libraries' addresses are the same" "$(truth same)" 1
for letter in a b; do
  found=$(rows hotspots same "own('work_in_$letter')") cost=$(truth $letter)
  holds "time of work_in_$letter: $found of $cost" "abs($found - $cost) <= 3 * 10e6"
  holds "time in lib$letter.so" "$(rows modules same "sum(n(r, 'self_ns') for r in rows if r['module'] == 'lib$letter.so')") >= $found"
done
holds "whole stacks" "$(summary whole_stack_share same) == 1"
