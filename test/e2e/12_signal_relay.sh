#!/bin/bash
# SPDX-License-Identifier: MIT
# Signals that are sent to the recorder reach the command, which decides about them.
. "$(dirname "$0")/common.inc"

cat >target <<'S'
#!/bin/bash
for name in INT TERM HUP QUIT USR1 USR2 WINCH; do trap "echo got $name" $name; done
trap 'echo got TERM; exit 3' TERM
echo ready
while :; do sleep 0.02; done
S
chmod +x target
# A shell starts background jobs with SIGINT and SIGQUIT ignored, which the command would inherit.
python3 - "$VARVE" record -q -o p ./target >log 2>err <<'P' &
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
P
recorder=$!
wait_for grep -q ready log
for name in INT HUP QUIT USR1 USR2 WINCH; do
  kill -$name $recorder
  wait_for grep -q "got $name" log
done
kill -TERM $recorder
wait $recorder
expect_eq "exit code that the command chose" $? 3
expect_eq "number of signals" "$(grep -c got log)" 7

# What the command sends to its parent is not sent back to it.
record -q -o back bash -c 'trap "echo looped" USR1; kill -USR1 $PPID; sleep 0.2; echo done'
expect_eq "output" "$(cat out)" done

# A signal that was ignored when varve was started stays ignored, as with nohup.
run bash -c 'trap "" HUP; exec '"$VARVE"' record -q -o inner bash -c "kill -HUP \$\$; echo alive"'
expect_eq "output under an ignored SIGHUP" "$(cat out)" alive
