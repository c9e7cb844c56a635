#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads that a library makes in its constructor, before the agent's own has run, as those of linear algebra do, are sampled; and the
# arguments of the program are known.
. "$(dirname "$0")/guest.inc"

ln -s "$root/test" test
cat >early.c <<'C'
#include <pthread.h>
#include "test/programs/work.h"
static pthread_t workers[2];
__attribute__((noinline)) static void early_work(void) {
  uint64_t x = 3;
  SPIN(x, 200 * STEPS_PER_MS);
  if (!x) abort();
}
static void* work(void* unused) {
  early_work();
  return unused;
}
__attribute__((constructor)) static void begin(void) {
  for (int i = 0; i < 2; ++i) pthread_create(&workers[i], NULL, work, NULL);
}
int end_early(void) {
  for (int i = 0; i < 2; ++i) pthread_join(workers[i], NULL);
  return 2;
}
C
gcc -O1 -g -I. -fPIC -shared early.c -o libearly.so || fail "cannot compile the library"
build early -L. -learly -Wl,-rpath,"$PWD" <<'C'
#include <stdio.h>
int end_early(void);
int main(int count, char** words) { return printf("%d %s\n", count, words[count - 1]) < 0 ? 9 : end_early(); }
C
same early.p ./early first "second word" ''
found=$(rows hotspots early.p "total('early_work')")
cpu=$(summary cpu_ns early.p)
holds "samples of the library's threads: $found of $cpu" "$found >= 0.8 * $cpu"
holds "what is not sampled" "$(summary unsampled_ns early.p) <= 30e6"
expect_eq "the command line" "$(rows processes early.p 'rows[0]["command"]')" "./early first second word "
ledger early.p
