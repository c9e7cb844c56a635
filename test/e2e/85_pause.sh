#!/bin/bash
# SPDX-License-Identifier: MIT
# varve pause and varve resume from outside: no samples meanwhile, the time is in the ledger, and --delay does not end a
# pause of the user's.
# calm
. "$(dirname "$0")/agent.inc"

start() {  # start DIR OPTIONS...: the program of three stages, recorded
  local directory=$1
  shift
  rm -f in? leave?
  "$VARVE" record -q -o "$directory" "$@" $programs/stages >stages.out 2>err.record &
  recorder=$!
  wait_for test -e in1
}
finish() {
  touch leave1 leave2 leave3
  wait $recorder || fail "the recorder ended with $?: $(cat err.record)"
}
pauses() { "$VARVE" report timeline --format json "$1" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["pauses"]))'; }
refused() {  # refused SENTENCE COMMAND...
  local sentence=$1
  shift
  run "$VARVE" "$@"
  expect_eq "exit code of varve $*" $code 1
  expect_one_line err
  expect_match err "$sentence"
}

more_samples_than() { [ "$(summary samples "$1")" -gt "$2" ]; }  # PROFILE NUMBER

start p
wait_for more_samples_than p 0
refused "'p' is not paused" resume p
run "$VARVE" pause  # the newest profile here
expect_eq "exit code of varve pause" $code 0
expect_match out '^p paused after [0-9.]+ s$'
refused "'p' is paused already" pause p
ln -s p link
refused "'link/' is paused already" pause link/
refused "'link' is paused already" pause link
rm link
touch leave1
wait_for test -e in2
sleep 0.5
report p
expect_eq "exit code of a report while paused" $code 0
touch leave2
wait_for test -e in3
run "$VARVE" resume p
expect_eq "exit code of varve resume" $code 0
wait_for more_samples_than p "$(summary samples p)"
finish
rows hotspots p '[own("first"), own("second"), own("third"), own("[paused]")]' >found
python3 - <<'P' || fail "found $(cat found), the program's clock said $(cat stages.out)"
import ast, json, sys
truth = json.load(open("stages.out"))
first, second, third, paused = ast.literal_eval(open("found").read())
# What first() did after the pause began, and third() before it ended, is paused too; of what second() did, the part
# after its last tick is third()'s.
sys.exit(not (second == 0 and first > 0 and third > 0 and paused >= truth["second"] * 0.75
              and paused <= sum(truth.values())))
P
rows hotspots p 'sum(n(r, "self_ns") for r in rows)' >sum
expect_eq "sum of hotspots" "$(cat sum)" "$(summary cpu_ns p)"
report threads p
expect_match out 'What was paused, .* s, is in no band'
expect_eq "pauses of p" "$(pauses p)" 1
report p
expect_match out '^Paused: from [0-9.]+ s to [0-9.]+ s\.'
report timeline p
expect_match out '\[paused\] .*='
refused "'p' is not being recorded any more" pause p
refused "'p' is not being recorded any more" resume p

# During --delay: resume begins at once.
start early --delay 1h
run "$VARVE" resume early
expect_eq "exit code of resume during --delay" $code 0
touch leave1
wait_for test -e in2
wait_for more_samples_than early "$(summary samples early)"
finish
rows hotspots early 'own("second")' >found
[ "$(cat found)" -gt 0 ] || fail "no samples after a resume during --delay"
expect_eq "pauses with --delay" "$(pauses early)" 1

# During --delay: pause outlives it.
start late --delay 2s
run "$VARVE" pause late
expect_eq "exit code of pause during --delay" $code 0
sleep 2.5
finish
expect_eq "samples of a pause that outlives --delay" "$(summary samples late)" 0
expect_eq "pauses of a pause that outlives --delay" "$(pauses late)" 1

# After the end of recording, while the command goes on.
start over --duration 100ms
wait_for grep -q stop_reason over/session
refused "'over' is not being recorded any more: recording was stopped" pause over
finish

# What is no profile, and what is somebody else's.
mkdir folder empty
head -c 20000 /dev/zero >folder/session
for none in folder nothing /etc/passwd folder/session; do refused "'$none' is no profile" pause $none; done
(cd empty && "$VARVE" pause 2>../err)
expect_match err 'there is no profile in'
run "$VARVE" pause p extra
expect_eq "exit code of a superfluous word" $code 2
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
  chmod 711 .
  start mine
  cp "$VARVE" varve-for-all && chmod 755 varve-for-all
  run setpriv --reuid 65534 --clear-groups ./varve-for-all pause "$PWD/mine"
  expect_eq "exit code without permission" $code 1
  expect_match err "no permission to change '.*mine' \(Permission denied\); it takes the user who records it, or root"
  finish
else
  echo "SKIPPED: somebody else's profile, which takes root"
fi
