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

# group SIGNAL COMMAND...: the answer of a program to a signal that is sent to its whole process group, varve among them.
cat >answers.py <<'P'
import os, signal, sys, time
got = []
for number in range(1, 65):
    if number not in (signal.SIGKILL, signal.SIGSTOP, 32, 33):
        signal.signal(number, lambda number, _: got.append(number))
open("ready", "w").close()
while not got: time.sleep(0.01)
time.sleep(0.3)
print(got)
P
cat >group.py <<'P'
import os, signal, subprocess, sys, time
number, one = int(sys.argv[2]), sys.argv[1] == "one"
child = subprocess.Popen(sys.argv[3:], start_new_session=True)
while not os.path.exists("ready"): time.sleep(0.02)
(os.kill if one else os.killpg)(child.pid, number)
child.wait()
P
# XCPU, VTALRM, IO, PWR, SYS and a real-time signal, too.
for number in 1 2 10 14 15 24 26 29 30 31 34 50; do
  for whom in one group; do
    rm -rf ready got
    python3 group.py $whom $number "$VARVE" record -q -o got python3 answers.py >answer
    expect_eq "signals after $number to $whom" "$(cat answer)" "[$number]"
  done
done

# Several signals to the group, close together, come once each; one to a command that has left the group comes as well. Who kills by
# name does not mean the process that tells the two apart.
cat >counts.py <<'P'
import collections, os, signal, sys, time
if sys.argv[1] == "own": os.setpgid(0, 0)
counts = collections.Counter()
def count(number, _): counts[number] += 1
for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT): signal.signal(number, count)
def over(*_): print(sorted(counts.items())), sys.exit(0)
signal.signal(signal.SIGTERM, over)
open("ready", "w").close()
while True: time.sleep(1)
P
cat >several.py <<'P'
import os, signal, subprocess, sys, time
child = subprocess.Popen(sys.argv[1:], start_new_session=True)
while not os.path.exists("ready"): time.sleep(0.02)
for i in range(10):
    for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT): os.killpg(child.pid, number)
    time.sleep(0.02)
for line in os.popen(f"ps -o args= --ppid {child.pid}"):
    if "counts.py" not in line: print(line.strip())
(os.killpg if "own" in sys.argv else os.kill)(child.pid, signal.SIGTERM)
child.wait()
P
for group in shared own; do
  rm -rf ready several
  python3 several.py "$VARVE" record -q -o several python3 counts.py $group >answer
  expect_eq "signals to a $group group" "$(sort answer | tr '\n' ' ')" "[(10, 10), (12, 10), (18, 10)] group-witness "
done
