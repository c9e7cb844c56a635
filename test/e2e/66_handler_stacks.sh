#!/bin/bash
# SPDX-License-Identifier: MIT
# Hazard 6: handlers that ask for an alternate stack run where they do without us, in threads that have none: on the stack that was
# interrupted, so that an overflow ends the program, and what such a handler has there stays. The dispositions they read are their own.
. "$(dirname "$0")/agent.inc"

# what the last line says, bare too; by signal: the exit code
while IFS=$'\t' read -r kind expected words; do
  run timeout 60 $programs/handler_stacks $kind </dev/null
  mv out bare
  expect_eq "exit code of $kind, bare" $code $expected
  expect_eq "$kind, bare" "$(tail -1 bare)" "$words"
  for options in "--interval 1ms" "--interval 1ms --timer cpu --waits off" "--interval 10ms"; do
    record -q $options -o p timeout 60 $programs/handler_stacks $kind </dev/null
    expect_eq "exit code of $kind with $options" $code $expected
    cmp -s out bare || fail "$kind with $options differs from the bare run: $(cat bare)$(show)"
    [[ $options != "--interval 1ms"* ]] || holds "samples of $kind" "$(summary samples p) >= 5"
    rm -rf $kind && mv p $kind
  done
  ledger $kind 1 $((expected ? 60 : 20))  # of a thread that is killed some ticks' time is unsampled
done <<'WORDS'
place	0	thread: own 60, elsewhere 0, errors 0
own_stack	0	taken away: own 60, elsewhere 0, errors 0
nested	0	own 60, elsewhere 0, deepest 6
registers	0	spoilt 0, right 40, own 40, elsewhere 0
leaves	0	jumped 40, visits 40
told	0	child of vfork 3, parent 1, refused -1 22
defaults	155	
overflow	139	
overflow_nodefer	139	
overflow_in_thread	139	
overflow_in_storm	139	
overflow_in_child	0	child: signal 11, exit 0
WORDS
