#!/bin/bash
# SPDX-License-Identifier: MIT
# D-18: a signal that only a call's own mask lets in (sigsuspend, ppoll, pselect, epoll_pwait) is handled in the call, though a tick
# comes with it and is delivered first.
. "$(dirname "$0")/agent.inc"

program=$programs/masked_waits
timeout 60 $program 100 >bare || fail "the bare run fails"
expect_eq "calls that are as they should, bare" "$(grep -cE "(often|signal), otherwise than (it|they) should 0$" bare)" 10
for timer in cpu auto; do
  for threads in "" threads; do
    record -q --interval 1ms --timer $timer -o p timeout 60 $program 200 $threads
    expect_eq "exit code with --timer $timer $threads" $code 0
    diff bare out >different || fail "calls end otherwise with --timer $timer $threads: $(cat different)"
    holds "samples" "$(summary samples p) > 50"
    rm -r p
  done
done
