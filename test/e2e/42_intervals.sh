#!/bin/bash
# SPDX-License-Identifier: MIT
# D-4: whatever the interval, the sums are the same: merged and late ticks lose no time.
# alone
. "$(dirname "$0")/agent.inc"

for interval_ms in 1 4 10 100; do
  profile p$interval_ms $programs/busy_threads 2 500
  ledger p$interval_ms
  expect_eq "interval" "$(summary interval_ns p$interval_ms)" $((interval_ms * 1000000))
  samples=$(summary samples p$interval_ms) cpu=$(truth process)
  # Ticks and the expirations merged into them make up the time, but for what came before the first and after the last, and but
  # for chance where others had the processors too: of the kernel's ticks, each falls into a thread with the share that it has.
  expirations=$((samples + $(summary overruns p$interval_ms))) due="$cpu / ${interval_ms}e6"
  chance="3 * ($due * (1 - $cpu / 2 / $(summary elapsed_ns p$interval_ms))) ** 0.5"
  holds "expirations at $interval_ms ms" "abs($expirations - $due) <= max(4, 0.1 * $due) + $chance"
  expect_eq "lost samples" "$(summary lost p$interval_ms)" 0
done
