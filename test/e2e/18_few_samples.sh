#!/bin/bash
# SPDX-License-Identifier: MIT
# A profile with few or no samples is never without a reason.
. "$(dirname "$0")/common.inc"

record true
expect_match err '^varve: (0 samples|[1-9] samples?), .*; profile in true.varve; next: varve report true.varve$'
expect_match err '(few|no) samples: .* of CPU time is little at one sample each 10 ms'
record sleep 0.2
expect_match err 'of CPU time is little'
record -o cleared env -i sleep 0.1
expect_eq "exit code" $code 0
