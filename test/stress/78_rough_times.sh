#!/bin/bash
# SPDX-License-Identifier: MIT
# D-27, D-28: while a program works under ticks of 1 ms its recorder is killed, or the disk of its profile is filled, at a random
# moment: output and exit code are the bare run's, and the profile opens. RUNS is how often.
. "$(dirname "$0")/../e2e/guest.inc"
runs=${RUNS:-20}

# The shell is the command; what it starts says how it ended, whoever its parent is by then.
printf '%s\n' '"$@" >here/said 2>&1; echo "code $?" >>here/said; mv here/said here/over' >script
ways=("$programs/thread_results many 2000" "$programs/lock_results" "$programs/thread_results destructors" "$programs/process_results")

# opened DIR: a report comes of it, whatever is missing.
opened() { "$VARVE" report summary "$1" >summary 2>&1 || fail "the profile of $1 does not open: $(cat summary)"; }
# The program has begun; it may be over by now.
begun() { [ -e here/said ] || [ -e here/over ]; }
as_bare() {
  [ -e here/over ] || fail "${way[*]}: $1 has not ended: $(tail -n 3 here/said)"
  diff expected here/over >difference || fail "$1 ended otherwise, < bare, > recorded: $(head -20 difference)"
}
for ((i = 0; i < runs; ++i)); do
  read -ra way <<<"${ways[i % ${#ways[@]}]}"
  rm -rf here && mkdir here
  bash script "${way[@]}" </dev/null &  # as what follows: a shell has such ignore interrupts
  wait $!
  cp here/over expected
  rm -rf here killed && mkdir here
  "$VARVE" record -q --interval 1ms -o killed bash script "${way[@]}" </dev/null >out 2>err &
  recorder=$!
  wait_for begun
  sleep 0.$((RANDOM % 8))$((RANDOM % 10))
  kill -KILL $recorder 2>/dev/null
  wait $recorder 2>/dev/null
  for ((wait = 0; wait < 2000; ++wait)); do [ -e here/over ] && break; sleep 0.05; done  # the programs' own alarms are at 80 s
  as_bare "a program whose recorder was killed"
  [ ! -e killed/session ] || opened killed
done

[ "$(id -u)" = 0 ] && mkdir disk && mount -t tmpfs -o size=3m tmpfs disk 2>mount.err || { echo "SKIPPED: the full disk; this needs root and mount: $(cat mount.err 2>/dev/null)"; exit 0; }
trap 'umount -l "$work/disk"; leave' EXIT
for ((i = 0; i < runs; ++i)); do
  read -ra way <<<"${ways[i % ${#ways[@]}]}"
  rm -rf here && mkdir here
  bash script "${way[@]}" </dev/null &  # as what follows: a shell has such ignore interrupts
  wait $!
  cp here/over expected
  rm -rf here disk/* && mkdir here
  "$VARVE" record -q --interval 1ms -o disk/full bash script "${way[@]}" </dev/null >out 2>err &
  recorder=$!
  wait_for begun
  sleep 0.$((RANDOM % 8))$((RANDOM % 10))
  dd if=/dev/zero of=disk/filler bs=1k 2>/dev/null
  wait $recorder
  expect_eq "exit code when the disk was filled" $? 0
  as_bare "a program whose disk was filled"
  opened disk/full
done
