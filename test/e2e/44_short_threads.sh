#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads that end before their first tick: their time is in the residual. THREADS=20000 is the stress form.
# alone
. "$(dirname "$0")/agent.inc"

count=${THREADS:-1000}
profile churn $programs/thread_churn $count 5
expect_eq "threads that ran" "$(truth threads)" "$count"
expect_eq "threads in the profile" "$(summary threads churn)" $((count + 1))
missing="$(summary cpu_ns churn) - $(summary sampled_ns churn) - $(summary residual_ns churn)"
holds "CPU time that is accounted for" "$missing <= 0.01 * $(summary cpu_ns churn)"
# 120 bytes of record a thread, and shared chunks of samples: less than 400 bytes a thread, names included.
holds "size of the profile" "$(summary profile_bytes churn) < 500000 + 400 * $count"
