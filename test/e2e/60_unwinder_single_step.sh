#!/bin/bash
# SPDX-License-Identifier: MIT
# The unwinder and libunwind at every instruction of some twenty functions, without and with frame pointers: no stack
# that libunwind gets right comes out different.
. "$(dirname "$0")/common.inc"

for program in single_step single_step_fp; do
  run "$programs/$program"
  expect_eq "exit code of $program" $code 0
  expect_match out '"different": 0,'
  steps=$(sed -n 's/.*"steps": \([0-9]*\).*/\1/p' out)
  [ "${steps:-0}" -gt 20000 ] || fail "$program took only ${steps:-no} steps"
done
