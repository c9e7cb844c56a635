#!/bin/bash
# SPDX-License-Identifier: MIT
# D-2, D-3: the CPU time of each thread is what its own clock said, for one thread, one a processor, and three a processor.
# alone
. "$(dirname "$0")/agent.inc"

processors=$(nproc)
for count in 1 $processors $((3 * processors)); do
  profile p$count $programs/busy_threads $count $((count == 1 ? 800 : 400))
  truth threads >threads.json
  rows threads p$count '{r["tid"]: n(r, "cpu_ns") for r in rows if r["tid"]}' >found
  python3 - <<'P' || fail "$count threads: reported $(cat found), their clocks said $(cat threads.json)"
import ast, sys
truth, found = (ast.literal_eval(open(name).read()) for name in ("threads.json", "found"))
# A thread's clock is read before the C library ends it: 1 %, and at least half a millisecond.
for tid, cpu in truth.items():
    if abs(found.get(tid, 0) - cpu) > max(cpu / 100, 5e5): sys.exit(1)
sys.exit(len(found) != len(truth) + 1)
P
  ledger p$count
  # Every view's rows add up to the same total.
  cpu=$(summary cpu_ns p$count)
  for view in hotspots modules lines; do
    expect_eq "sum of $view" "$(rows $view p$count 'sum(n(r, "self_ns") for r in rows)')" $cpu
  done
  expect_eq "sum of threads" "$(rows threads p$count 'sum(n(r, "cpu_ns") for r in rows)')" $cpu
done
