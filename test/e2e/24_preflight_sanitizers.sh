#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs built with sanitizers: AddressSanitizer's runtime goes first; ThreadSanitizer is warned about.
. "$(dirname "$0")/common.inc"

cat >main.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
  puts(getenv("LD_PRELOAD"));
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
expect_match out '^[^:]*libasan\.so[^:]*:.*libvarve\.so'
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
