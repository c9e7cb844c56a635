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

# What only children took, and nobody was to follow them.
record -o alone --no-follow sh -c 'i=0; (while [ $i -lt 200000 ]; do i=$((i + 1)); done); true'
"$VARVE" report quality alone >said
expect_match said 'Recorded with --no-follow: the CPU time of processes that the command started, if it did, is \[not sampled\]'
# A program that removes its own profile.
record -o gone sh -c 'rm -rf gone; exit 3'
expect_eq "exit code without a profile" $code 3
expect_match err '^varve: cannot read the profile gone: No such file or directory$'
