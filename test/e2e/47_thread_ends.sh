#!/bin/bash
# SPDX-License-Identifier: MIT
# D-21: however a thread ends, and whatever its destructors burn, its time is in its record.
. "$(dirname "$0")/agent.inc"

for how in return main; do
  profile $how $programs/thread_ends $how
  ledger $how 1 10
  expect_eq "threads" "$(summary threads $how)" 10
  expect_eq "threads with a lifetime" "$(rows threads $how 'len([r for r in rows if r["tid"] and n(r, "lifetime_ns") > 0])')" 10
  holds "99 % of the program's own clock" "$(summary sampled_ns $how) + $(summary residual_ns $how) >= 0.99 * $(truth process)"
  # Destructors of keys and of thread_local objects are sampled like anything else.
  for function in body key_destructor Local::~Local; do
    holds "$function was sampled" "$(rows hotspots $how "sum(n(r, 'self_ns') for r in rows if '$function' in r['function'])") > 0"
  done
  nothing_of_ours $how
done
