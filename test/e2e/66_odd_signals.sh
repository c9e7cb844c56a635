#!/bin/bash
# SPDX-License-Identifier: MIT
# Hazards 4, 6, 7, 9, 11, 15 and 18, D-24 and D-30: stacks that overflow or are small, handlers that jump or work for long, stops,
# exec with signals pending and system calls of many intervals end as without us, and are sampled.
. "$(dirname "$0")/agent.inc"

# what each prints, bare too
cat >expected <<'T'
overflow	recovered 8, stack mine 1, in use 0
jumps	jumped 30 30 30, blocked 0 0
fibers	turns 400 400, spoilt 0
small	right 11
fault	mended 8, spoilt 0
stopped	sigtimedwait: -1 EAGAIN, interrupted 1
long	done 12
queued	taken 64, wrong 0
children	reaped 40
preempted	switched 1, spoilt 0
chain	end of the chain
pending	pending 27 -1 -1 -1
T
# What may be missing of the sums, in ms. Children by a system call of the program's own are not recorded, and it is they who pay for
# the kernel's copy of the page tables.
declare -A missing=([chain]=200 [long]=100)
# By timers, too, every other program; LONG=yes has all for each, as in stress/79.
forms=("--interval 1ms --timer cpu --waits off" "--interval 1ms")
turn=0
while IFS=$'\t' read -r kind words; do
  timeout 60 $programs/odd_signals $kind >bare </dev/null || fail "$kind fails bare: $?"
  expect_eq "$kind, bare" "$(tail -1 bare)" "$words"
  these=("${forms[@]:turn++ % 2:1}")
  [ "${LONG:-}" != yes ] || these=("--interval 10ms" "${forms[@]}")
  for options in "${these[@]}"; do
    # A tick on the way out of a call that a stop has woken ends it, and events come there far more often: varve-safety(7) says so.
    # Of timers one run in three has one there where a system call takes long; a call that always ended would show in each of twelve.
    tries=1
    [ $kind != stopped ] || tries=12 options="$options --timer cpu"
    while
      rm -rf p
      record -q $options -o p timeout 60 $programs/odd_signals $kind </dev/null
      expect_eq "exit code of $kind with $options" $code 0
      ! cmp -s out bare && ((--tries > 0))
    do :; done
    cmp -s out bare || fail "$kind with $options differs from the bare run: $(cat bare)$(show)"
    expect_eq "words on the error output" "$(cat err)" ""
    [[ $options != "--interval 1ms"?( --timer cpu) ]] || holds "samples of $kind" "$(summary samples p) >= 5"
  done
  expect_eq "damages" "$("$VARVE" report quality --format json p | python3 -c 'import json, sys; print(json.load(sys.stdin)["damages"])')" 0
  expect_eq "negative times of threads" "$(rows threads p '[r for r in rows if any(v.startswith("-") for k, v in r.items() if k.endswith("_ns"))]')" "[]"
  rm -rf $kind && mv p $kind  # for the words of what is wrong
  ledger $kind 1 ${missing[$kind]:-20}
done <expected
