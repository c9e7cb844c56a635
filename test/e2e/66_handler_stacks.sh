#!/bin/bash
# SPDX-License-Identifier: MIT
# Hazard 6: handlers that ask for an alternate stack run where they do without us, in threads that have none: on the stack that was
# interrupted, so that an overflow ends the program, and what such a handler has there stays. The dispositions they read are their own.
. "$(dirname "$0")/agent.inc"

# By timers, too, every other program; LONG=yes has both for each, as in stress/79.
forms=("--interval 1ms --timer cpu --waits off" "--interval 1ms")
turn=0
# what the last line says, bare too; by signal: the exit code
while IFS=$'\t' read -r kind expected words; do
  case $kind in
    no_room | overflow*) program=full_stacks ;;
    chains | masks | told | defaults) program=handler_answers ;;
    *) program=handler_stacks ;;
  esac
  run timeout 60 $programs/$program $kind </dev/null
  mv out bare
  expect_eq "exit code of $kind, bare" $code $expected
  expect_eq "$kind, bare" "$(tail -1 bare)" "$words"
  these=("${forms[@]:turn++ % 2}")
  [ "${LONG:-}" != yes ] || these=("${forms[@]}")
  for options in "${these[@]}"; do
    record -q $options -o p timeout 60 $programs/$program $kind </dev/null
    expect_eq "exit code of $kind with $options" $code $expected
    cmp -s out bare || fail "$kind with $options differs from the bare run: $(cat bare)$(show)"
    holds "samples of $kind" "$(summary samples p) >= 5"
    rm -rf $kind && mv p $kind
  done
  # Of a thread that is killed the time since its last tick is unsampled; no_room has 32 such children.
  ledger $kind 1 $([ $program = full_stacks ] && echo 300 || echo 20)
done <<'WORDS'
place	0	thread: own 60, elsewhere 0, errors 0
own_stack	0	taken away: own 60, elsewhere 0, errors 0
nested	0	own 60, elsewhere 0, deepest 6
registers	0	at entry 0, spoilt 0, right 40, own 40, elsewhere 0
leaves	0	jumped 40, visits 40
chains	0	calls 24, before 20, after 20
from_outside	0	handled many
masks	0	done
adopts	0	on its stack 20, elsewhere 0
told	0	child of vfork 3, parent 1, refused -1 22
defaults	155	child: 12
no_room	0	done
overflow	139	
overflow_nodefer	139	
overflow_in_thread	139	
overflow_in_storm	139	
overflow_in_child	0	child: signal 11, exit 0
overflow_on_given	11	handled
overflow_in_thread_on_given	139	
WORDS

# ThreadSanitizer calls handlers itself, some with copies of what the kernel gave it. LONG=yes has both forms of its library.
runtimes=("")
[ "${LONG:-}" != yes ] || runtimes+=(-static-libtsan)
for runtime in "${runtimes[@]}"; do
  gcc -g -O1 -D_GNU_SOURCE -fsanitize=thread $runtime -o tsan "$root/test/programs/handler_stacks.c" 2>tsan.err ||
    { echo "SKIPPED a program under ThreadSanitizer (${runtime:-shared}): $(head -1 tsan.err)"; continue; }
  run ./tsan from_outside  # which some kernels' random addresses do not let begin
  [ $code = 0 ] || { echo "SKIPPED a program under ThreadSanitizer (${runtime:-shared}): it ends with $code bare"; continue; }
  expect_eq "words under ThreadSanitizer, bare" "$(cat out)" "handled many"
  record -q -o tsan.p ./tsan from_outside
  expect_eq "exit code under ThreadSanitizer" $code 0
  expect_eq "words under ThreadSanitizer" "$(cat out)" "handled many"
  rm -r tsan.p
done

# The kernel ends no first process of a namespace by a signal that it does not force.
alone="unshare -pf --kill-child"
if $alone true 2>/dev/null; then
  record -q -o init.p timeout -k 1 30 $alone $programs/full_stacks overflow
  expect_eq "exit code of an overflow as the first process" $code 139
else
  echo "SKIPPED the first process of a namespace: not allowed"
fi
