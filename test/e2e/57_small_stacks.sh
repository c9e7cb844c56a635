#!/bin/bash
# SPDX-License-Identifier: MIT
# D-24: on threads with the smallest stacks the C library allows, sampling takes nothing of the thread's own stack.
. "$(dirname "$0")/agent.inc"
interval_ms=1

$programs/handler_watch stack >bare || fail "the bare run fails"
mv bare out
before=$(truth used)
profile small $programs/handler_watch stack
used=$(truth used)
holds "samples of threads with small stacks" "$(summary samples small) >= 20"
holds "stack use is $used of $(truth size) bytes, $before without us" "$used <= $before + 1024"
ledger small
