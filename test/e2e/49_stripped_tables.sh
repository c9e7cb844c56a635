#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that were stripped of .eh_frame and have kept the header that leads to it, where nothing may be mapped any more: the same
# output as bare, and stacks by frame pointers.
. "$(dirname "$0")/guest.inc"

# Unwind information of some pages, that of main behind them.
for ((i = 0; i < 1200; ++i)); do echo "long filler_$i(long a) { char text[64]; __builtin_memset(text, (int)a, 64); return text[a & 63] * $i; }"; done >filler.c
cat >main.c <<'C'
#include <stdio.h>
#include <time.h>
__attribute__((noinline)) static long leaf(long n) {
  for (volatile long i = 0; i < n; ++i) continue;
  return n;
}
__attribute__((noinline)) static long middle(long n) { return leaf(n) + 1; }
int main(void) {
  long sum = 0;
  while (clock() < 200000) sum += middle(100000);
  return printf("worked %d\n", sum > 0) > 0 ? 5 : 1;
}
C
gcc -O1 -g -fno-omit-frame-pointer filler.c main.c -o whole || fail "cannot compile"
objcopy --keep-symbol=main -R .eh_frame whole zeros && strip -R .eh_frame -o hole whole || fail "cannot strip"
read -r header size < <(readelf -SW whole | sed -nE 's/.* \.eh_frame +PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+).*/\1 \2/p')
holds "pages of unwind information" "0x$size > 3 * 4096"
for program in zeros hole; do
  readelf -lW $program | grep -q GNU_EH_FRAME || fail "$program has no header of unwind information"
  same $program.varve ./$program
  expect_eq "exit code of $program, bare" $bare_code 5
  holds "samples of $program" "$(summary samples $program.varve) >= 5"
  holds "whole stacks of $program by frame pointers" "$(summary whole_stack_share $program.varve) >= 0.95"
  holds "modules in stacks of $program" "$(rows modules $program.varve "sum(n(r, 'self_ns') for r in rows if r['module'].endswith('$program'))") >= 1e8"
done
