#!/bin/bash
# SPDX-License-Identifier: MIT
# Many threads, many processes, many switches: all are seen, what is lost is counted.
# alone
. "$(dirname "$0")/run_states.inc"
sanitized && echo "SKIPPED: an observer that is built with AddressSanitizer is late for what is looked at here" && exit 0

# adds_up DIR: levels say what the clocks of threads say, as the time at which they were active and as that at which they ran.
adds_up() {
  "$VARVE" report concurrency --format json "$1" >concurrency.json || fail "report concurrency $1"
  rows threads "$1" 'sum(n(r, "cpu_ns") + n(r, "inactive_ns") for r in rows if r["tid"])' >active
  python3 - "$(cat active)" "$(summary cpu_ns "$1")" <<'P' || fail "levels of $1: $(cat sums)"
import json, sys
report = json.load(open("concurrency.json"))
active = sum(row["level"] * row["elapsed_ns"] for row in report["levels"])
ran = report["mu"] * report["processors"] * report["elapsed_ns"]
pairs = list(zip((active, ran), map(int, sys.argv[1:])))
print(pairs, file=open("sums", "w"))
sys.exit(any(abs(levels - clocks) > 0.03 * clocks for levels, clocks in pairs))
P
}

# They end a while after their work, so that sweeps have seen it: those of a thousand threads come a second apart on a slow machine.
thousand_threads() {
  rm -rf t
  record -q --no-finalize -o t --run-states $source "$program" threads 1000 $((1000 * $1))
  [ $code = 0 ] || broken "exit code of 1000 threads is $code$(show)"
  [ "$(truth made)" = 1000 ] || broken "$(truth made) of 1000 threads could be made"
  is_true t "len(tracks) == 1001 and all(x['end'] for x in tracks)"
  # What it takes to end one is not in its own count.
  is_true t "abs(sum(x['running'] for x in tracks) - $(truth cpu_ns)) < 0.05 * $(truth cpu_ns) + 0.3e6 * len(tracks)"
}
# A fifth of their CPU time is what the kernel takes to switch to them, between two records. A million records a second fill a ring in
# 60 ms: where a virtual machine stood still as long some are lost, and of more than one in a hundred levels are too low. Then the same
# work is done again.
many_switches() {
  rm -rf s-$source
  record -q --no-finalize -o s-$source --run-states $source "$program" switches 50000 2
  [ $code = 0 ] || broken "exit code of switches is $code$(show)"
  is_true s-$source "run['lost'] * 100 <= run['events']"
  (is_true s-$source "len(tracks) == 5 and all(x['end'] for x in tracks)" && adds_up s-$source) || broken "see above"
}
for source in $sources; do
  more_work thousand_threads
  more_work many_switches
done
many_processes() {
  record -q --no-finalize -o p --run-states $1 "$program" processes 200 1200
  expect_eq "exit code of 200 processes" $code 0
  is_true p "len(tracks) == 201 and len({x['pid'] for x in tracks}) == 201 and all(x['end'] for x in tracks)"
  is_true p "{x['ppid'] for x in tracks[1:]} == {tracks[0]['pid']}"
  [ $1 = sweeps ] || adds_up p  # of what ends between two sweeps less is known
}
at_once many_processes $sources
[ "$sources" = sweeps ] || is_true s-switches "int(facts['observer_lost']) == run['lost'] and run['events'] > 1000"

# The rings that an ordinary user may have differ in size and are small: each wakes the observer before it is full.
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
if [ "$(id -u)" = 0 ] && chmod 755 "$work" && $nobody test -x "$VARVE" -a -x "$program"; then
  mkdir -m 777 open && cd open || fail "cannot enter a folder"
  small() { (ulimit -l 64 && exec $nobody "$VARVE" record -q --no-finalize --run-states switches -o small "$@"); }
  if as=$nobody can switches --run-states switches; then
    run small "$program" switches 40000 2
    expect_eq "exit code with small rings$(show)" $code 0
    is_true small "run['lost'] < 0.02 * run['events'] and run['events'] > 40000"
  else
    echo "SKIPPED small rings: this user is shown no switches"
  fi
else
  echo "SKIPPED small rings: another user cannot run what was built here"
fi
