#!/bin/bash
# SPDX-License-Identifier: MIT
# Run states of a run that ended badly: the recorder is killed, or its file may not grow. What was written can be read.
. "$(dirname "$0")/agent.inc"

program=$programs/run_states
states() {
  python3 "$root/test/e2e/run_states.py" "$1" >states.json || fail "the observer file of $1"
  python3 -c 'import json, sys
run = json.load(open("states.json"))
print(eval(sys.argv[1]))' "$2" || fail "cannot evaluate $2"
}
sources="switches sweeps"
can switches --run-states switches || sources=sweeps

# Events come faster than this machine may parse them, so what is read is a copy.
enough() {
  rm -rf before && cp -r "$1" before 2>/dev/null && [ -s before/observer ] &&
    [ "$(states before "run['events'] + 50 * run['sweeps']")" -gt 2000 ]
}
for source in $sources; do
  "$VARVE" record -q -o k-$source --run-states $source "$program" switches 20000000 1 >out 2>err &
  recorder=$!
  wait_for enough k-$source
  kill -KILL $recorder
  wait $recorder 2>/dev/null
  kill -KILL "$(states before "run['tracks'][0]['pid']")"
  before=$(states before "run['events'] + run['sweeps']")
  [ "$(states k-$source "run['events'] + run['sweeps']")" -ge "$before" ] || fail "$source: less after the kill than before"
  expect_eq "$source: threads" "$(states k-$source "len(run['tracks'])")" 3
done

# A limit on the size of files ends the observation, not the run.
for source in $sources; do
  run bash -c 'ulimit -f 200; exec "$@"' - "$VARVE" record -q --no-finalize -o f-$source --run-states $source "$program" switches 30000 1
  expect_eq "$source: exit code with a limit on files" $code 0
  expect_eq "$source: threads before the limit" "$(states f-$source "len(run['tracks'])")" 3
done
if [ "$sources" != sweeps ]; then
  expect_eq "what the session says" "$(states f-switches "'File too large' in run['facts'].get('observer_trouble', '')")" True
fi
