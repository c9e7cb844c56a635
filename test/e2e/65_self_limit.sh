#!/bin/bash
# SPDX-License-Identifier: MIT
# Hazard 16: samples that cost more than the interval do not keep a program from going on. Its interval is lengthened, the report
# says so, and no time is lost. A program whose samples cost little keeps its interval.
. "$(dirname "$0")/agent.inc"

# costly MS: the handler took less than without a limit, when it was nearly all of the time, and the later the less.
costly() {
  rm -rf costly
  record -q --interval "$1ms" -o costly timeout 100 $programs/costly_stacks 4000
  expect_eq "exit code" $code 0
  expect_eq "calls" "$(truth leaves)" 4000
  "$VARVE" report quality --format json costly >quality.json || fail "report quality"
  fact() { python3 -c "import json; print(json.load(open('quality.json'))['$1'])"; }
  holds "cost of a sample, in intervals" "$(summary handler_ns costly) / $(summary samples costly) > 0.02 * $1e6"
  holds "threads with a longer interval" "$(fact slowed_threads) >= 1"
  holds "longest interval" "$(fact longest_interval_ns) >= (8 if $1 == 1 else 4) * $1e6"
  holds "the handler's share" "$(summary handler_ns costly) < 0.5 * $(summary cpu_ns costly)"
  expect_match <("$VARVE" report quality costly) '^Interval +'"$1"' ms, of [12] threads? up to [0-9]+ ms: samples took more than 2% of the CPU time there'
  ledger costly
}
costly 1
costly 10

# At 1 ms the limit is 20 us a sample, which a slow machine may need.
interval_ms=1
profile cheap $programs/handler_watch malloc
"$VARVE" report quality cheap >quality || fail "report quality"
if grep '^Interval' quality; then holds "samples were not cheap" "$(summary handler_ns cheap) / $(summary samples cheap) > 10e3"; fi
interval_ms=10
profile cheap $programs/handler_watch malloc
expect_no_match <("$VARVE" report quality cheap) '^Interval'
