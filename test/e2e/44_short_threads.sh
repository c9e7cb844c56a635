#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads that end before their first tick: their time is in the residual. THREADS=20000 is the stress form.
# alone
. "$(dirname "$0")/agent.inc"

# What is asked is what the agent sees. Switches cost the kernel another 15 us at each thread's end, which no thread sees.
run_states=off
count=${THREADS:-1000}
profile churn $programs/thread_churn $count 5
expect_eq "threads that ran" "$(truth threads)" "$count"
expect_eq "threads in the profile" "$(summary threads churn)" $((count + 1))
# What the kernel takes to end a thread is in no clock that the thread could read: 25 us on a quiet machine, and
# 60 where other programs empty its caches, which is 1 % of these threads. The stress form asks for 99 %.
missing="$(summary cpu_ns churn) - $(summary sampled_ns churn) - $(summary residual_ns churn)"
allowed="100_000 * $count"
[ -z "${SHARE:-}" ] || allowed="$SHARE * $(summary cpu_ns churn)"
holds "CPU time that is accounted for" "$missing <= $allowed"
ledger churn 1 $((count / 10)) # likewise
# 120 bytes of record a thread, and shared chunks of samples: less than 400 bytes a thread, names included.
holds "size of the profile" "$(summary profile_bytes churn) < 500000 + 400 * $count"
