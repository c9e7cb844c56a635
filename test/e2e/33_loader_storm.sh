#!/bin/bash
# SPDX-License-Identifier: MIT
# Rows 1, 2 and 27 of the hazards: libraries with thread_local variables, constructors and exceptions are loaded, worked in and
# unloaded by several threads, also into namespaces of their own, under ticks: the same answers as bare, no hang, and what was
# sampled in libraries that are gone has their names. ROUNDS, INTERVAL_MS and LIMIT make the stress form.
. "$(dirname "$0")/guest.inc"
guest_limit=${LIMIT:-60}

for letter in a b c d; do
  g++ -x c++ -O1 -g -shared -fPIC -I"$root" -o library_$letter.so - <<E2 || fail "cannot compile library_$letter"
#include <stdexcept>
#include "test/programs/work.h"
static thread_local uint64_t calls = 0;
static thread_local char room[3000 + '$letter'];
struct Object {
  uint64_t x = 7;
  [[gnu::noinline]] Object() { SPIN(x, STEPS_PER_MS / 10); }
  [[gnu::noinline]] ~Object() { SPIN(x, STEPS_PER_MS / 10); }
};
static Object object;
[[gnu::noinline]] static uint64_t work_in_$letter(uint64_t x) { SPIN(x, STEPS_PER_MS); return x; }
extern "C" uint64_t library_run(uint64_t number) {
  room[number] = char(work_in_$letter(number));
  return ++calls;
}
extern "C" uint64_t library_throw(uint64_t depth) {
  if (depth == 0) throw std::runtime_error("from the library");
  return library_throw(depth - 1) + 1;
}
E2
done
record_options=(--interval ${INTERVAL_MS:-1}ms)
same storm $programs/loader_storm ./library_[abcd].so ${ROUNDS:-64}
expect_match out "namespaces 8, .* wrong 0$"
ledger storm
for letter in a b c d; do
  holds "time in library_$letter.so" "$(rows hotspots storm "own('work_in_$letter(unsigned long)') + own('work_in_$letter')") > 4e6"
done
# A tick in the last instructions of a throw, where its frames are gone and the catcher's not yet there, finds no whole stack.
holds "whole stacks" "$(summary whole_stack_share storm) >= 0.94"
nothing_of_ours storm
