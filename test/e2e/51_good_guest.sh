#!/bin/bash
# SPDX-License-Identifier: MIT
# D-17, D-18, D-23: under a tick a millisecond errno stays, calls that the kernel restarts do not fail, the program sees no
# alternate stack but its own, and the handler never allocates.
# alone
. "$(dirname "$0")/agent.inc"
interval_ms=1

profile errno $programs/good_guest errno
expect_eq "errors changed" "$(truth changed)" 0
holds "ticks while errno was watched" "$(summary samples errno) >= 20"

profile altstack $programs/good_guest altstack
expect_eq "alternate stacks" "$(cat out)" '{"before": 1, "mine": 1, "after": 1, "last": 1}'
holds "ticks on both stacks" "$(summary samples altstack) >= 10"

profile malloc $programs/handler_watch malloc
expect_eq "mallocs watched" "$(truth checked)" 1
holds "ticks while malloc was watched" "$(summary samples malloc) >= 20"

profile reaping $programs/good_guest reaping
expect_eq "right answers about children" "$(truth right)" 9

profile eintr $programs/good_guest eintr
holds "ticks between waits" "$(summary samples eintr) >= 20"
# A tick comes while a thread runs, so none can end a wait that has begun. What is left is a tick that expires in the kernel on
# the way into a wait: calls that SA_RESTART covers go on, of the others a few in thousands fail.
for call in read poll epoll_wait nanosleep sem_timedwait accept; do
  echo "$call failed with EINTR: $(truth $call) of 1200"
done
expect_eq "EINTR of read and accept" "$(truth read) $(truth accept)" "0 0"
for call in poll epoll_wait nanosleep sem_timedwait; do
  holds "EINTR of $call: $(truth $call) of 1200" "$(truth $call) <= 4"
done
