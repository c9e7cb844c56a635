#!/bin/bash
# SPDX-License-Identifier: MIT
# Every view of a real profile in every format: rows add up to the CPU time of the summary, to the nanosecond; and what
# depends on the terminal and the environment.
. "$(dirname "$0")/common.inc"

build spin -lpthread <<'END'
#define _GNU_SOURCE
#include <pthread.h>
static volatile unsigned long sink;
__attribute__((noinline)) static void burn(long n) { for (long i = 0; i < n; ++i) sink += i; }
__attribute__((noinline)) static void outer(long n) { burn(n); sink++; }
static void* worker(void* unused) { outer(60000000); return unused; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, worker, 0);
  pthread_setname_np(thread, "worker");
  outer(120000000);
  pthread_join(thread, 0);
  return 0;
}
END
record ./spin
expect_eq "exit code" $code 0
cpu=$(summary cpu_ns spin.varve)
parts=$(($(summary sampled_ns spin.varve) + $(summary residual_ns spin.varve) + $(summary unsampled_ns spin.varve)))
expect_eq "sum of the ledger" $parts "$cpu"

# sum VIEW COLUMN [OPTIONS...]
sum() {
  local view=$1 column=$2
  shift 2
  "$VARVE" report "$view" --format csv "$@" | python3 -c "
import csv, sys
print(sum(int(row['$column'] or 0) for row in csv.DictReader(sys.stdin)))"
}
for options in "" "--limit 1" "--min-share 20" "--thread worker" "--function burn --no-inline" "--time 0.01-0.1"; do
  for view in hotspots top-down bottom-up modules lines; do
    expect_eq "$view $options" "$(sum $view self_ns $options)" "$cpu"
  done
  for view in threads processes; do expect_eq "$view $options" "$(sum $view cpu_ns $options)" "$cpu"; done
done
for band in poor ok ideal over; do
  for options in "--thread worker" "--function burn" "--time 0.01-0.1" "--time 0.05-"; do
    expect_eq "$band of all rows, $options" "$(sum hotspots ${band}_ns $options)" "$(sum hotspots ${band}_ns)"
  done
done
expect_eq samples "$(sum hotspots samples)" "$(summary samples spin.varve)"

report hotspots --format csv
expect_match out '^function,module,file,line,self_ns,self_share,total_ns,total_share,samples,poor_ns,ok_ns,ideal_ns,over_ns,place$'
expect_eq "hottest function" "$(sed -n '2s/,.*//p' out)" burn
report hotspots --format csv --thread worker
expect_match out '^\[filtered out\],'
report summary --thread worker
expect_match out '^CPU time +[0-9.]+ s of [0-9.]+ s pass the filter: '
expect_match out '^Samples +[0-9]+ of [0-9]+, in 1 of 2 threads and 1 of 1 process; in the whole run 0 lost$'
expect_match out 'varve report hotspots --thread worker'
report summary --format csv --thread worker
expect_eq "CPU time of the run" "$(sed -n 's/^cpu_ns,//p' out)" "$cpu"
expect_eq "CPU time that passes" "$(sed -n 's/^shown_ns,//p' out)" \
  "$("$VARVE" report threads --format csv | python3 -c "
import csv, sys
print(*(row['cpu_ns'] for row in csv.DictReader(sys.stdin) if row['name'] == 'worker'))")"
end=$("$VARVE" report threads --format csv | python3 -c "
import csv, sys
print(*(int(row['start_ns']) + int(row['lifetime_ns']) for row in csv.DictReader(sys.stdin) if row['name'] == 'worker'))")
report timeline --time "0-${end}ns"
expect_match out ' worker +'
report timeline --time "${end}ns-"
expect_eq "exit code of the time after a thread" $code 0
expect_no_match out ' worker +'
report callers burn --format csv
expect_match out '^caller,outer,spin,'
for view in summary hotspots top-down bottom-up threads processes modules lines quality "callers burn"; do
  report $view --format json
  python3 -c 'import json; json.load(open("out"))' || fail "$view is no JSON"
  report $view
  expect_eq "exit code of $view" $code 0
  expect_match out '^CPU time .* = .* sampled \+ .* residual \+ .* not sampled$'
  expect_no_match out $'\x1b'
done

# In pipes plain; ASCII in the C locale; colours only where asked for, and not against NO_COLOR.
report top-down
expect_match out '[├└]─'
LC_ALL=C report top-down
! LC_ALL=C grep -q '[^ -~]' out || fail "the C locale got more than ASCII"
report hotspots --color always
expect_match out $'\x1b\\['
terminal() { script -qec "stty cols 70 rows 10; $*" /dev/null </dev/null >out; }
if command -v script >/dev/null; then
  export TERM=xterm-256color
  VARVE_PAGER='tr a-z A-Z' terminal "$VARVE report bottom-up --min-share 0"
  expect_match out 'CPU TIME .* SAMPLED'
  VARVE_PAGER=cat terminal "$VARVE report hotspots"
  expect_match out $'\x1b\\['
  VARVE_PAGER=cat NO_COLOR=1 terminal "$VARVE report hotspots"
  expect_no_match out $'\x1b\\['
  [ "$(tr -d '\r' <out | awk '{ if (length > most) most = length } END { print most }')" -le 70 ] || fail "too wide$(show)"
fi

# A program that a link led to is called what was typed, and is found by either name.
ln -s spin typed
record -q -o linked ./typed
for name in '^typed$' '^spin$'; do
  report threads --process "$name" linked
  expect_match out ' typed +typed$'
done
report processes linked
expect_match out ' typed$'

# Who wonders why there is no end: the recorder goes on, or it was killed.
"$VARVE" record -q -o going sh -c 'echo $PPID $$ >pids; exec sleep 30' &
wait_for test -s pids
read -r recorder target <pids
report going
expect_match out '^End +not yet: it is still being recorded'
kill -KILL "$recorder"
wait
kill "$target"
gone() { "$VARVE" report going >out && grep -q '^End *not seen: the recorder itself was killed' out; }
wait_for gone
