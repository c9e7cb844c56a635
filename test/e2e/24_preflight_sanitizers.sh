#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs built with sanitizers: AddressSanitizer's runtime goes first; ThreadSanitizer is warned about.
. "$(dirname "$0")/common.inc"

cat >main.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  const char* preload = getenv("LD_PRELOAD");
  puts(preload ? preload : "none");
  volatile double sum = 0;
  for (long i = 0; i < 30000000; ++i) sum += i;
  return 5;
}
C
export ASAN_OPTIONS=detect_leaks=0
gcc -g -fsanitize=address main.c -o asan 2>/dev/null || { echo "SKIPPED: all of it; there is no libasan"; exit 0; }
check ./asan
expect_eq "exit code of varve check" $code 0
expect_match out 'libasan.* goes before the agent'
record -o asan.p ./asan
expect_eq "exit code under AddressSanitizer" $code 5
expect_match out '^[^:]*libvarve\.so$'  # what it starts finds no runtime in its environment
expect_no_match err 'does not come first'
# One that a recorded program starts runs as without varve, and is named; so does what an instrumented program starts.
record -o child.p sh -c './asan; exit $?'
expect_eq "exit code of an instrumented child" $code 5
expect_match out '^none$'
"$VARVE" report quality child.p >said || fail "report quality of child.p"
expect_match said 'Threads not sampled: .*asan \('
gcc -g -fsanitize=address -x c - -o starts <<<'#include <stdlib.h>
int main(void) { return system("grep -c libasan /proc/self/maps") == 0; }' || fail "cannot compile"
record -q -o starts.p ./starts
expect_eq "maps of AddressSanitizer in what an instrumented program starts" "$(cat out)" 0
record -q --no-follow -o alone.p ./starts
expect_eq "maps of AddressSanitizer in what is not followed" "$(cat out)" 0
# What the program itself preloads stays, and stays the first.
runtime=$(gcc -print-file-name=libasan.so)
gcc -x c - -o plain <<<'#include <stdio.h>
#include <stdlib.h>
int main(void) { return puts(getenv("LD_PRELOAD")) < 0; }' || fail "cannot compile"
record -q -o own.p sh -c "LD_PRELOAD=$runtime:\$LD_PRELOAD ./plain; LD_PRELOAD=$runtime ./plain"
expect_eq "runtimes of the program's own" "$(grep -c "^$runtime:.*libvarve.so\$" out)" 2
expect_no_match err 'does not come first'

gcc -g -fsanitize=undefined main.c -o ubsan
record -q -o ubsan.p ./ubsan
expect_eq "exit code under UBSan" $code 5
if gcc -g -fsanitize=thread main.c -o tsan 2>/dev/null; then
  check ./tsan
  expect_match out 'ThreadSanitizer holds signals back'
else
  echo "SKIPPED: ThreadSanitizer; there is no libtsan"
fi
if command -v clang >/dev/null && clang -g -fsanitize=address main.c -o clang-asan 2>/dev/null; then
  record -q -o clang.p ./clang-asan
  expect_eq "exit code with a runtime linked in" $code 5
else
  echo "SKIPPED: a runtime that is linked in; there is no clang with AddressSanitizer"
fi
