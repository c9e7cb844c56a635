#!/bin/bash
# SPDX-License-Identifier: MIT
# D-31: mutexes of every kind, held, handed on, destroyed and left by the dead, in one process and between two; read-write
# locks, spin locks, barriers, semaphores, conditions, C11's locks and joins: every answer is the bare run's.
# idle
. "$(dirname "$0")/guest.inc"

record_options=(--interval 1ms)
same locks $programs/lock_results
holds "answers that were compared" "$(wc -l <out) > 1000"
holds "ticks meanwhile" "$(summary samples locks) >= 10"
# With the hooks of waits at their busiest, and without them.
record_options=(--interval 1ms --waits min=1us)
same_as_bare traced $programs/lock_results
record_options=(--interval 1ms --waits off)
same_as_bare untraced $programs/lock_results
