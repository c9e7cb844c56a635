#!/bin/bash
# SPDX-License-Identifier: MIT
# Every input that a fuzzer found worth keeping, under AddressSanitizer and UBSan: no crash, no leak, no overflow.
# long
. "$(dirname "$0")/common.inc"

# So many random keys behind those of each input of the screens; `make stress` presses 50,000.
export VARVE_KEYS=${VARVE_KEYS:-25}
replays=$root/build/asan/replay
[ -d "$replays" ] || fail "not built: make VARIANT=asan replays"
for source in "$root"/test/fuzz/fuzz_*.cc; do
  name=$(basename "$source" .cc)
  name=${name#fuzz_}
  run "$replays/$name" "$root/test/fuzz/corpus/$name"
  expect_eq "exit code of replaying $name" $code 0
  expect_match out '[1-9][0-9]* inputs'
done
