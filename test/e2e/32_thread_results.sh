#!/bin/bash
# SPDX-License-Identifier: MIT
# D-20, D-21, and row 5 of the hazards: threads cancelled in every call where that can be, thousands that end in every way, and
# the order of destructors and exit handlers, which burn CPU: all as in the bare run. THREADS=20000 is the stress form.
. "$(dirname "$0")/guest.inc"

record_options=(--interval 1ms)
same cancelled $programs/cancel_results
holds "answers that were compared" "$(wc -l <out) > 100"
record_options=(--interval 1ms --waits min=1us)
same_as_bare traced $programs/cancel_results

record_options=(--interval 2ms)
for kind in destructors main_leaves exit_of_a_thread quick_exit_of_a_thread exit_of_all cancelled_main fork_of_a_thread once; do
  same $kind $programs/thread_results $kind
done

same many $programs/thread_results many ${THREADS:-3000}
read -r tasks sources grown <here/after
expect_eq "tasks after all threads" "$tasks" 1
expect_eq "timers and events after all threads" "$sources" 1
# 64 blocks of ended threads are kept for those to come, with a page or two touched in each; the file's last extents are mapped.
holds "memory after all threads grew by $grown KB" "$grown <= 3000"
expect_eq "threads in the profile" "$(summary threads many)" $((${THREADS:-3000} / 8 * 8 + 1))
expect_eq "threads without an end" "$(rows threads many 'len([r for r in rows if r["tid"] and n(r, "lifetime_ns") == 0])')" 0
