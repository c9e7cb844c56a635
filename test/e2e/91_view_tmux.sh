#!/bin/bash
# SPDX-License-Identifier: MIT
# varve view in real terminals: in tmux, as each of five types of terminal, in UTF-8 and without, it opens, follows keys and sizes, and
# leaves the terminal as it was by q, ^C, SIGTERM, ^Z and a crash. A move of the cursor sends little.
# idle
. "$(dirname "$0")/common.inc"

command -v tmux >/dev/null || fail "tmux is not installed"
record -q -o demo "$BUILD/varve-demo"
expect_eq "exit code" $code 0

socket=$work/tmux
pane() { tmux -S "$socket" "$@"; }
trap 'pane kill-server 2>/dev/null; leave' EXIT
screen() { pane capture-pane -p; }
keys() { pane send-keys "$@"; }
seen() { screen | grep -qE -- "$1"; }
# see REGEX: until it stands on the screen
see() {
  for _ in $(seq 400); do
    seen "$1" && return
    sleep 0.05
  done
  fail "$case: /$1/ is not on the screen:
$(screen)"
}
type() { keys -l "$1" && keys Enter; }
# Sent in two halves, so that what is seen is the answer and not the question.
alive=0
shell_answers() {
  alive=$((alive + 1))
  type "echo shell''-answers-$alive"
  see "^shell-answers-$alive$"
}
# What a terminal is set to: its modes by stty, and by tmux whether cursor, alternate screen, mouse and keypad are on.
state() {
  rm -f modes
  type "stty -a >modes.tmp; mv modes.tmp modes"
  wait_for [ -e modes ]
  grep -v columns modes
  pane display-message -p 'cursor #{cursor_flag} alternate #{alternate_on} mouse #{mouse_any_flag} keypad #{keypad_flag}'
}
viewer() { pgrep -P "$(pane display-message -p '#{pane_pid}')" -x varve; }
gone() { ! viewer >/dev/null; }
stopped() { jobs_of=$(viewer) && grep -q '^State:.T' "/proc/$jobs_of/status"; }

open_view() {
  type "\"\$VARVE\" view demo"
  see '^\[1 Sum'
  keys 2
  see '\[2 Hot'
}

leave_q() { keys q q; }
leave_interrupt() { keys C-c; }
leave_term() { kill -TERM "$(viewer)"; }
leave_stop() {
  keys C-z
  wait_for stopped
  shell_answers
  expect_eq "$case: alternate screen while stopped" "$(pane display-message -p '#{alternate_on}')" 0
  type fg
  see '\[2 Hot'
  keys q q
}
leave_crash() {
  kill -SEGV "$(viewer)"
  see 'internal error: Segmentation fault'
  see '[0-9]+# .*main|[0-9]+# '
}
ways=(leave_q leave_interrupt leave_term leave_stop leave_crash)
# With the sanitizers a crash is reported by theirs, which knows of no terminal.
! ldd "$VARVE" | grep -q libasan || ways[4]=leave_q

# A case: one terminal type and locale, left in one of the ways, or with LONG=yes, as in stress/79, in two.
try() {
  case="$1 $2"
  local turn=$3 before after
  pane respawn-pane -k -e "TERM=$1" -e "LC_ALL=$2" -e "VARVE=$VARVE" -c "$work" 'exec bash --norc --noprofile -i'
  pane resize-window -x 80 -y 24
  pane clear-history
  shell_answers
  before=$(state)
  for way in "${ways[turn % 5]}" ${LONG:+"${ways[(turn + 2) % 5]}"}; do
    case="$1 $2 $way"
    open_view
    local first second
    first=$(screen | tail -2 | head -1)
    keys Down
    for _ in $(seq 200); do
      second=$(screen | tail -2 | head -1)
      [ "$first" != "$second" ] && break
      sleep 0.05
    done
    [ "$first" != "$second" ] || fail "$case: the cursor does not move$(screen)"
    pane resize-window -x 110 -y 30
    see '\[2 Hotspots\]'
    expect_eq "$case: lines" "$(screen | wc -l)" 30
    pane resize-window -x 80 -y 24
    see '\[2 Hot\]'
    if [ "$2" = C ]; then
      keys 3
      see '\[3 Down\]'
      expect_eq "$case: lines that are not ASCII" "$(screen | LC_ALL=C grep -cP '[^\x20-\x7e]')" 0
      keys q
      see '\[2 Hot\]'
    fi
    $way
    for _ in $(seq 400); do gone && break; sleep 0.05; done  # else it could take what is typed for the shell
    gone || fail "$case: it does not end:
$(screen)
$(cat /proc/"$(viewer)"/{status,wchan,stack} 2>/dev/null)"
    shell_answers
    after=$(state)
    [ "$before" = "$after" ] || fail "$case: the terminal is another one:
$(diff <(echo "$before") <(echo "$after"))"
    keys C-l
    type clear
  done
}

unset TMUX
LC_ALL=C.UTF-8 tmux -S "$socket" -f /dev/null new-session -d -x 80 -y 24 'exec bash --norc --noprofile'
pane set-option -g window-size manual >/dev/null
pane set-option -g remain-on-exit on >/dev/null
turn=0
for term in xterm-256color tmux-256color screen linux vt100; do
  infocmp "$term" >/dev/null 2>&1 || fail "terminfo has no $term"
  for locale in C.UTF-8 C; do
    try $term $locale $turn
    turn=$((turn + 1))
  done
done

# NO_COLOR: attributes, no colours.
case="NO_COLOR"
pane respawn-pane -k -e TERM=xterm-256color -e NO_COLOR=1 -e "VARVE=$VARVE" -c "$work" 'exec bash --norc --noprofile -i'
open_view
pane capture-pane -p -e >out
expect_no_match out $'\e\\[[0-9;]*(3[0-8]|4[0-8])[0-9;]*m'
keys Q

# What a move of the cursor sends, at 80x24: the mean of twenty.
cat >moves.py <<'P'
import fcntl, os, pty, select, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    os.execve(sys.argv[1], ["varve", "view", "hotspots", "demo"], {**os.environ, "TERM": "xterm-256color"})
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
def settle(limit):
    """Bytes until nothing has come for a while."""
    count = 0
    while select.select([terminal], [], [], limit)[0]:
        count += len(os.read(terminal, 65536))
        limit = 0.3
    return count
first = settle(20)
sent = []
for key in [b"\x1b[B"] * 10 + [b"j"] * 5 + [b"k"] * 5:
    os.write(terminal, key)
    sent.append(settle(10))
os.write(terminal, b"Q")
try: settle(5)
except OSError: pass  # it is gone
os.waitpid(pid, 0)
print(first, max(sent), sum(sent) // len(sent))
P
run timeout 60 python3 moves.py "$VARVE"
expect_eq "exit code of the moves" $code 0
read -r first most mean <out
[ "$first" -gt 500 ] || fail "only $first bytes for the first screen"
[ "$mean" -gt 0 ] && [ "$mean" -lt 600 ] || fail "a move sends $mean bytes, at most $most"
echo "first screen $first bytes; a move $mean, at most $most"

# A terminal that goes away ends it, also where nobody sends SIGHUP.
cat >gone.py <<'P'
import os, pty, select, signal, sys, time
master, slave = pty.openpty()
pid = os.fork()
if pid == 0:
    os.close(master)
    os.setsid()
    for number in (0, 1): os.dup2(slave, number)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.execve(sys.argv[1], ["varve", "view", "demo"], {**os.environ, "TERM": "xterm-256color"})
os.close(slave)
select.select([master], [], [], 20)
os.read(master, 65536)
os.close(master)
end = time.time() + 20
while time.time() < end:
    if os.waitpid(pid, os.WNOHANG)[0]: sys.exit(0)
    time.sleep(0.05)
os.kill(pid, signal.SIGKILL)
sys.exit("it still runs")
P
run python3 gone.py "$VARVE"
expect_eq "exit code of a terminal that goes away" $code 0

# Two signals at once, as to one that does not come to answer the first: it ends by them, and the terminal is as it was.
cat >twice.py <<'P'
import os, pty, select, signal, sys, termios, time
known, know = os.pipe()  # the viewer begins when the modes that it finds are known
pid, master = pty.fork()
if pid == 0:
    os.read(known, 1)
    os.execve(sys.argv[1], ["varve", "view", "demo"], {**os.environ, "TERM": "xterm-256color"})
before, shown, end = termios.tcgetattr(master), b"", time.time() + 20
os.write(know, b"x")
def read(seconds):
    global shown
    while select.select([master], [], [], seconds)[0]:
        try: shown += os.read(master, 65536)
        except OSError: return
def ready(): return b"CPU time" in shown and termios.tcgetattr(master) != before
while not ready() and time.time() < end: read(0.1)
assert ready(), "no summary, or no screen"
os.kill(pid, signal.SIGSTOP)
os.waitpid(pid, os.WUNTRACED)
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCONT): os.kill(pid, number)
status = os.waitpid(pid, 0)[1]
assert os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGTERM, signal.SIGHUP), status
after = termios.tcgetattr(master)
read(0.3)
assert after == before, "modes"
assert b"\x1b[?1049l" in shown, "alternate screen"
P
run python3 twice.py "$VARVE"
expect_eq "exit code of a test of two signals" $code 0
