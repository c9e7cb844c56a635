#!/bin/bash
# SPDX-License-Identifier: MIT
# D-17, D-18, D-23: under a tick a millisecond errno stays, calls that the kernel restarts do not fail, the program sees no
# alternate stack but its own, and the handler never allocates.
# idle
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
# A tick comes while a thread runs, or, where its timer expires in the kernel on the way into a wait, once the call is over: none
# ends one. 52_strict_waits has more calls, and aims at that moment.
for call in read poll epoll_wait nanosleep sem_timedwait accept; do
  expect_eq "EINTR of $call, of 1200" "$(truth $call)" 0
done
