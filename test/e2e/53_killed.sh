#!/bin/bash
# SPDX-License-Identifier: MIT
# D-27: killed at random moments, or dead by its own hand: the profile opens, and at most one record a thread is missing. RUNS=200
# is the stress form.
. "$(dirname "$0")/agent.inc"

# recorded DIR: the profile opens undamaged; of each thread at most the record of the tick that it died in is missing; and no
# thread has more time than it noted itself, but for what passed after its last note. What is missing goes to the file missing.
recorded() {
  "$VARVE" report summary --format json "$1" >summary.json || fail "the profile of $1 does not open"
  rows threads "$1" '{int(r["tid"]): n(r, "cpu_ns") for r in rows if r["tid"]}' >found
  python3 - <<'P' || fail "$1: $(cat facts)"
import ast, json, struct, sys
notes = struct.unpack("4Q", open("notes", "rb").read(32))
found = ast.literal_eval(open("found").read())
summary = json.load(open("summary.json"))
pairs = [(tid, cpu) for tid, cpu in (notes[:2], notes[2:]) if tid and cpu]
missing = [cpu - found.get(tid, 0) for tid, cpu in pairs]
open("facts", "w").write(f"notes {pairs}, threads {found}, {summary['samples']} samples, {summary['ticks']} ticks, {summary['damages']} damages")
open("missing", "a").writelines(f"{m}\n" for m in missing)
sys.exit(abs(summary["samples"] - summary["ticks"]) > len(found) or summary["damages"] > 0 or any(m < -5e6 for m in missing))
P
}

for ((i = 0; i < ${RUNS:-10}; ++i)); do
  rm -rf killed
  rm -f notes
  "$VARVE" record -q -o killed $programs/progress notes kill >out 2>err &
  recorder=$!
  wait_for test -s notes
  sleep 0.$((RANDOM % 3))$((RANDOM % 10))$((RANDOM % 10))
  target=$(pgrep -P $recorder -x progress)
  [ -n "$target" ] || fail "no target to kill"
  kill -KILL $target
  wait $recorder 2>/dev/null
  code=$?
  expect_eq "exit code after SIGKILL" $code 137
  recorded killed
done
# A processor that the host takes away delays a tick by any time, so what is missing is judged by its median.
little_is_missing() {
  local median=$(sort -n missing | sed -n "$(($(wc -l <missing) / 2 + 1))p")
  holds "median of what is missing after $1: $median ns" "${median:-0} <= 2 * $interval_ms * 1e6"
  rm missing
}
little_is_missing "a kill"

for death in segv:139 abort:134 _exit:7 exit:0; do
  rm -f notes
  record -q -o ${death%:*} $programs/progress notes ${death%:*}
  expect_eq "exit code of ${death%:*}" $code ${death#*:}
  recorded ${death%:*}
  holds "samples of ${death%:*}" "$(summary samples ${death%:*}) >= 4"
done
little_is_missing "its own end"
