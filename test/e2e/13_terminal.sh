#!/bin/bash
# SPDX-License-Identifier: MIT
# In a terminal: ^C ends the command as it would without varve, and the profile is finished; ^Z stops both, as a job.
# idle
. "$(dirname "$0")/common.inc"

cat >drive.py <<'P'
"""Runs a shell in a terminal of its own, types into it, prints what came back."""
import os, pty, select, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.environ["PS1"] = "$ "
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
seen = b""
def until(text, limit=15):
    global seen
    end = time.time() + limit
    while text not in seen:
        if time.time() > end or not select.select([terminal], [], [], 0.5)[0] and time.time() > end:
            sys.stdout.write(seen.decode(errors="replace"))
            sys.exit("no " + repr(text))
        try:
            if select.select([terminal], [], [], 0.1)[0]: seen += os.read(terminal, 65536)
        except OSError:
            sys.exit("the terminal is gone before " + repr(text))
    before, seen = seen.split(text, 1)
    return before
def type(text): os.write(terminal, text.encode())
exec(open(sys.argv[1]).read())
P

cat >interrupt.py <<'P'
type("VARVE record -o p sh -c 'echo sta''rted; while :; do :; done'\n".replace("VARVE", os.environ["VARVE"]))
until(b"started")
time.sleep(0.5)
type("\x03")
until(b"profile in p;")
type("echo code=$?\n")
until(b"code=130")
type("exit\n")
P
VARVE=$VARVE python3 drive.py interrupt.py >out 2>err || fail "^C$(show)"

# A shell as the target could miss the ^Z: dash does, now and then, while it starts a command.
build slow <<'C'
#include <stdio.h>
#include <time.h>
int main(void) {
  setlinebuf(stdout);
  puts("begun");
  for (int i = 0; i < 20; ++i) nanosleep(&(struct timespec){0, 100000000}, 0);
  puts("finished");
  return 5;
}
C
cat >stop.py <<'P'
type("VARVE record -q -o q ./slow\n".replace("VARVE", os.environ["VARVE"]))
until(b"begun")
type("\x1a")
until(b"Stopped")
time.sleep(0.3)
type("fg\n")
until(b"finished")
type("echo code=$?\n")
until(b"code=5")
type("exit\n")
P
VARVE=$VARVE python3 drive.py stop.py >out 2>err || fail "^Z$(show)"
[ -s p/symbols ] || fail "the interrupted run was not finalized"

# Its own group has the keys and the input where it makes itself one, as timeout does: bare it would lead the foreground already.
cat >group.py <<'P'
def stop_and_go_on():
    until(b"ready")
    time.sleep(0.5)
    type("\x1a")
    until(b"Stopped")
    type("fg\n")
    time.sleep(0.5)
codes = []
for varve in "", os.environ["VARVE"] + " record -q -o g ":
    type(varve + "timeout 60 sh -c 'echo sta''rted; while :; do sleep 0.1; done'\n")
    until(b"started")
    time.sleep(0.5)
    type("\x03")
    type("echo co''de=$?.\n")
    until(b"code=")
    codes.append(until(b"."))
    type(varve.replace("-o ", "-o read-") + "timeout 60 sh -c 'echo rea''dy; read word; echo go''t $word'\n")
    until(b"ready")
    type("something\n")
    until(b"got something")
    type(varve.replace("-o ", "-o stopped-") + "timeout 60 sh -c 'echo rea''dy; sleep 1; read word; echo go''t $word'\n")
    stop_and_go_on()
    type("else\n")
    until(b"got else")
    # The rest of a pipeline has the keys with it.
    type(varve.replace("-o ", "-o piped-") + "timeout 60 sh -c 'echo rea''dy; while :; do sleep 0.1; done' | tee log\n")
    stop_and_go_on()
    type("\x03")
    type("echo pi''ped=${PIPESTATUS[0]}.\n")
    until(b"piped=")
    codes.append(until(b"."))
type("exit\n")
if codes[:2] != codes[2:]: sys.exit(f"exit codes bare, then recorded: {codes}")
P
VARVE=$VARVE python3 drive.py group.py >out 2>err || fail "a command with a group of its own$(show)"

# From a script, a command that stops itself and that another process tells to go on, and it alone: nobody tells the recorder.
cat >script <<'S'
"$VARVE" record -q -o r sh -c '(until grep -q "^State:.T" /proc/$$/status; do sleep 0.1; done; sleep 0.3; kill -CONT $$) & kill -STOP $$; true'
echo "after it: $?"
S
cat >alone.py <<'P'
type("sh script\n")
until(b"after it: 0")
type("exit\n")
P
VARVE=$VARVE python3 drive.py alone.py >out 2>err || fail "a command that is told to go on alone$(show)"
