#!/bin/bash
# SPDX-License-Identifier: MIT
# Calls with arguments that are in no memory, end with it or are out of range answer what they answer without us: our hooks look at
# some of them first, and must not be what crashes.
. "$(dirname "$0")/agent.inc"

timeout 60 $programs/bad_pointers >bare || fail "the bare run fails"
expect_match bare '^sigtimedwait, set: -1 EFAULT$'
expect_match bare '^execve, environment: -1 EFAULT$'
expect_match bare '^sigprocmask, set: SIGSEGV$'
expect_eq "answers" "$(wc -l <bare)" 314
for options in "--interval 1ms" "--interval 10ms --waits off"; do
  rm -rf p
  record -q $options -o p timeout 60 $programs/bad_pointers
  expect_eq "exit code of bad_pointers with $options" $code 0
  diff bare out >different || fail "answers differ with $options: $(cat different)"
done
