#!/bin/bash
# SPDX-License-Identifier: MIT
# Signals that are sent to the recorder reach the command, which decides about them.
# idle
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

# So do those at which varve would say that it has crashed.
run bash -c 'trap "" ABRT; exec '"$VARVE"' record -q -o fatal bash -c "kill -ABRT \$\$; echo alive"'
expect_eq "output under an ignored SIGABRT" "$(cat out)" alive

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
# What is started leads a group of its own, and says that it is ready by a file of that name.
cat >started.py <<'P'
import ctypes, os, signal, subprocess, time
def begin():
    os.setpgrp()
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG: it does not outlive a test that fails
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # as a shell's jobs in the background may not have it
def start(words):
    child = subprocess.Popen(words, preexec_fn=begin)
    while not os.path.exists("ready"): time.sleep(0.02)
    return child
def children(pid): return [int(each) for each in open(f"/proc/{pid}/task/{pid}/children").read().split()]
P
cat >group.py <<'P'
import os, sys
from started import start
number, one = int(sys.argv[2]), sys.argv[1] == "one"
child = start(sys.argv[3:])
(os.kill if one else os.killpg)(child.pid, number)
child.wait()
P
answered() {
  python3 ../group.py $1 $number "$VARVE" record -q -o got python3 ../answers.py >answer
  expect_eq "signals after $number to $1" "$(cat answer)" "[$number]"
}
# XCPU, VTALRM, IO, PWR, SYS and a real-time signal, too.
for number in 1 2 10 14 15 24 26 29 30 31 34 50; do
  rm -rf one group
  at_once answered one group
done

# Several signals to the group, close together, come once each; one to a command that has left the group comes as well. Who kills by
# name does not mean the process that tells the two apart.
cat >counts.py <<'P'
import collections, os, signal, sys, time
if sys.argv[1] == "own": os.setpgid(0, 0)
counts = collections.Counter()
def count(number, _):
    counts[number] += 1
    open(f"came-{number}-{counts[number]}", "w").close()
for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT): signal.signal(number, count)
def over(*_): print(sorted(counts.items())), sys.exit(0)
signal.signal(signal.SIGTERM, over)
open("ready", "w").close()
while True: time.sleep(1)
P
cat >several.py <<'P'
import os, signal, sys, time
from started import start
numbers = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT)
child = start(sys.argv[1:])
for i in range(1, 11):
    for number in numbers: os.killpg(child.pid, number)
    # Only one of a number can wait for a process: the next are sent when these have come, or it is clear that they do not come.
    deadline = time.time() + 5
    while time.time() < deadline and not all(os.path.exists(f"came-{int(number)}-{i}") for number in numbers): time.sleep(0.01)
    time.sleep(0.02)
for line in os.popen(f"ps -o args= --ppid {child.pid}"):
    if "counts.py" not in line: print(line.strip())
(os.killpg if "own" in sys.argv else os.kill)(child.pid, signal.SIGTERM)
child.wait()
P
for group in shared own; do
  rm -rf ready several came-*
  python3 several.py "$VARVE" record -q -o several python3 counts.py $group >answer
  expect_eq "signals to a $group group" "$(sort answer | tr '\n' ' ')" "[(10, 10), (12, 10), (18, 10)] group-witness "
done

# What each process got by itself is soon forgotten: later signals to the recorder alone come.
cat >alone.py <<'P'
import os, signal, sys, time
from started import children, start
child = start(sys.argv[1:])
for process in children(child.pid): os.kill(process, signal.SIGUSR1)
for i in range(3):
    time.sleep(0.7)
    os.kill(child.pid, signal.SIGUSR1)
time.sleep(0.3)
os.kill(child.pid, signal.SIGTERM)
child.wait()
P
rm -rf ready came-*
python3 alone.py "$VARVE" record -q -o alone python3 counts.py shared >answer
expect_eq "signals to the recorder alone" "$(cat answer)" "[(10, 4)]"

# A group that is told to stop and at once to go on goes on: the command, and the recorder.
cat >stops.py <<'P'
import os, signal, sys, time
from started import children, start
child = start(sys.argv[1:])
command = children(child.pid)[0]
def stopped(pid): return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] == "T"
stuck = 0
for i in range(100):
    os.killpg(child.pid, signal.SIGTSTP)
    for _ in range(i * 60): pass
    os.killpg(child.pid, signal.SIGCONT)
    deadline = time.time() + 5
    while (stopped(command) or stopped(child.pid)) and time.time() < deadline: time.sleep(0.01)
    stuck += time.time() >= deadline
    if time.time() >= deadline: os.killpg(child.pid, signal.SIGCONT)
print("stuck", stuck, flush=True)
os.kill(child.pid, signal.SIGTERM)
child.wait()
P
rm -rf ready came-*
python3 stops.py "$VARVE" record -q -o stops python3 counts.py shared >answer
expect_eq "a group that stops and goes on" "$(head -1 answer)" "stuck 0"

# The value that a signal was queued with, and SIGABRT, which watchdogs send.
cat >queued.py <<'P'
import ctypes, sys
from started import start
number = int(sys.argv[1])
child = start(sys.argv[2:])
ctypes.CDLL(None).sigqueue(child.pid, number, ctypes.c_void_p(1234))
sys.exit(child.wait() & 255)
P
build takes_value <<'C'
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  sigset_t set;
  siginfo_t info;
  sigemptyset(&set);
  sigaddset(&set, SIGABRT);
  sigaddset(&set, 40);
  sigprocmask(SIG_BLOCK, &set, 0);
  close(open("ready", O_CREAT | O_WRONLY, 0600));
  if (sigwaitinfo(&set, &info) < 0) return 1;
  return printf("%d %d %d\n", info.si_signo, info.si_code, info.si_value.sival_int), 0;
}
C
for number in 40 6; do
  rm -rf ready queued
  python3 queued.py $number "$VARVE" record -q -o queued ./takes_value >answer
  expect_eq "what came of a queued signal $number" "$(cat answer)" "$number -1 1234"
done
rm -f ready
python3 queued.py 6 "$VARVE" record -q -o aborted sh -c 'touch ready; while :; do sleep 0.1; done'
expect_eq "the end of a command by SIGABRT" $? 250
