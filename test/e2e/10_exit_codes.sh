#!/bin/bash
# SPDX-License-Identifier: MIT
# The exit code of the command is varve's; codes of varve's own failures are those of env and timeout.
. "$(dirname "$0")/common.inc"

for expected in 0 1 2 77 125 126 127 128 255; do
  record -q -o p$expected sh -c "exit $expected"
  expect_eq "exit code" $code $expected
done
record -q -o out1 -- printf '%s|' a '' 'b c'
expect_eq "stdout" "$(cat out)" "a||b c|"
[ ! -s err ] || fail "-q printed something$(show)"
echo from-stdin | record -q -o out2 cat
expect_eq "stdin" "$(cat out)" from-stdin
record -q -o out3 sh -c 'echo error >&2'
expect_eq "stderr" "$(cat err)" error

record no-such-program-anywhere
expect_eq "exit code of a name that is not found" $code 127
expect_one_line err
record /
expect_eq "exit code of a directory" $code 126
touch plain && chmod -x plain
record ./plain
expect_eq "exit code of a file that is not executable" $code 126
expect_match err 'chmod \+x'
[ ! -e plain.varve ] || fail "a refused command left a profile"

# However little memory there is: the command's code, or one sentence and varve's own. 127 and 134 are those of the loader and the
# C++ library, which had not enough to begin. Between too little for these and enough is less than a megabyte.
sanitized && echo "SKIPPED: little memory: varve is built with AddressSanitizer" && exit 0
refusals=0 enough=0
for ((kb = 6000; kb < 40000 && enough < 20; kb += 16)); do
  rm -rf little
  run bash -c 'ulimit -v "$0"; exec "$@"' "$kb" "$VARVE" record -q -o little true
  [ $code = 0 ] && enough=$((enough + 1))
  [[ $code =~ ^(0|127|134)$ ]] && continue
  expect_eq "exit code in $kb KB" $code 125
  expect_match err 'not enough memory|cannot allocate'
  refusals=$((refusals + 1))
done
[ $enough -gt 0 ] && [ $refusals -gt 0 ] || fail "of the limits $refusals were too little for varve, $enough enough"
