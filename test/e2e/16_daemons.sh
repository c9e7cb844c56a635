#!/bin/bash
# SPDX-License-Identifier: MIT
# Processes that outlive the command: recorded to their end, or to the user's.
. "$(dirname "$0")/common.inc"

"$VARVE" record -o p sh -c '(while [ ! -e go ]; do sleep 0.05; done; echo late >flag) & exit 4' 2>err &
wait_for grep -q 'the command has ended' err
touch go
wait $!
expect_eq "exit code of the command" $? 4
[ -e flag ] || fail "did not wait for the background process"
expect_match err 'the command has ended, [0-9]+ of its processes go'
[ "$(ls p/*.agent | wc -l)" -ge 2 ] || fail "the background process was not recorded"

# A daemon forks twice and leaves its session.
record -q -o d setsid --fork sh -c 'sleep 0.3; echo done >daemon-flag'
[ -e daemon-flag ] || fail "did not wait for the daemon"

# --no-follow: the command alone.
start=$SECONDS
record -q -o n --no-follow sh -c 'sleep 5 & echo $! >pid; exit 0'
[ $((SECONDS - start)) -lt 4 ] || fail "--no-follow waited for a background process"
kill "$(cat pid)"
expect_eq "agent files" "$(ls n/*.agent | wc -l)" 1

# What cannot be recorded is not waited for.
build static -static <<'C'
#include <unistd.h>
int main(void) { sleep(8); return 0; }
C
start=$SECONDS
record -q -o s sh -c './static & echo $! >pid; exit 0'
[ $((SECONDS - start)) -lt 6 ] || fail "waited for a process without the agent"
kill "$(cat pid)"

# The user ends the recording; the daemon goes on.
"$VARVE" record -o i sh -c 'sleep 20 & echo $! >pid; exit 6' 2>err &
recorder=$!
wait_for grep -q 'until the end or' err
kill -TERM $recorder
wait $recorder
expect_eq "exit code after the interruption" $? 6
expect_match err '1 process went on'
kill -0 "$(cat pid)" || fail "the daemon was ended"
kill "$(cat pid)"
grep -qa stop_reason i/session || fail "the session does not say why recording ended"

# What varve was begun with ignored, as by nohup, ends no recording, and no look-up of names.
(trap '' HUP && exec "$VARVE" record -o h sh -c '(while [ ! -e go-on ]; do sleep 0.1; done; echo late >late) & exit 7') 2>err-h &
recorder=$!
wait_for grep -q 'until the end or' err-h
kill -HUP $recorder
sleep 0.3
touch go-on
wait $recorder
expect_eq "exit code under an ignored SIGHUP" $? 7
[ -e late ] || fail "an ignored SIGHUP ended the recording"
[ -s h/session ] && ! grep -qa stop_reason h/session || fail "the session says that an ignored SIGHUP ended it"
