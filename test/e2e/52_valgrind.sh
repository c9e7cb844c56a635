#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that Valgrind simulates is left alone, and named: a tick's signal would end Valgrind itself.
. "$(dirname "$0")/guest.inc"

have valgrind || exit 0
cat >sum.c <<'C'
#include <pthread.h>
#include <stdio.h>
static void* sum(void* to) {
  for (unsigned long i = 0; i < 20000000; ++i) *(volatile unsigned long*)to += i;
  return 0;
}
int main() {
  unsigned long sums[2] = {0, 0};
  pthread_t thread;
  if (pthread_create(&thread, 0, sum, sums)) return 1;
  sum(sums + 1);
  pthread_join(thread, 0);
  printf("%lu\n", sums[0] + sums[1]);
  return 3;
}
C
cc -O1 -g -o sum sum.c -lpthread || fail "no C compiler"
valgrind -q ./sum >out 2>&1
[ $? = 3 ] || { echo "SKIPPED: valgrind does not run a program of two threads here: $(head -3 out)"; exit 0; }
for tool in memcheck helgrind; do
  same $tool valgrind -q --tool=$tool --error-exitcode=9 ./sum
  "$VARVE" report quality $tool >said || fail "report quality"
  expect_match said 'was not recorded: it runs in Valgrind, which takes the signals of ticks for its own\.'
done
