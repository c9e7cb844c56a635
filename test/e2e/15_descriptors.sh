#!/bin/bash
# SPDX-License-Identifier: MIT
# The command sees the descriptors, signal mask and dispositions that it would have without varve.
. "$(dirname "$0")/common.inc"

build inherited <<'C'
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  FILE* report = fopen("seen", "w");
  for (int fd = 0; fd < 64; ++fd) {
    char path[32], target[256];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n > 0 && fd != fileno(report)) { target[n] = 0; fprintf(report, "%d\n", fd); }
  }
  fprintf(report, "next %d\n", fileno(report));
  sigset_t mask;
  sigprocmask(SIG_BLOCK, 0, &mask);
  for (int i = 1; i < 65; ++i) {
    struct sigaction action;
    if (i == SIGPROF || sigaction(i, 0, &action) != 0) continue;
    if (sigismember(&mask, i) == 1) fprintf(report, "blocked %d\n", i);
    if (action.sa_handler == SIG_IGN) fprintf(report, "ignored %d\n", i);
  }
  return 0;
}
C
profiles=0
same() {
  "$@" ./inherited </dev/null >/dev/null 2>/dev/null
  mv seen bare
  "$@" "$VARVE" record -q -o "p$((++profiles))" ./inherited </dev/null >/dev/null 2>/dev/null
  diff bare seen >difference || fail "with $*: $(cat difference)"
}
same env
same nohup
same bash -c 'exec 5</dev/null 9>/dev/null; exec "$@"' -
same bash -c 'trap "" INT QUIT; exec "$@"' -
same bash -c 'exec <&- ; exec "$@"' -
same bash -c 'exec 2>&- >&- <&-; exec "$@"' -
same python3 -c '
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM, signal.SIGCHLD])
os.execvp(sys.argv[1], sys.argv[1:])'

# Few descriptors: either the command runs as bare, or one sentence names the limit; an older profile is none the worse.
record -q -o here true
for limit in 5 6 7 8 9 10 11 12 14 16 18 20; do
  for output in "-o new$limit" "-o here" ""; do
    (
      exec </dev/null >out 2>err 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-
      ulimit -n $limit && exec "$VARVE" record -q $output sh -c 'exit 6'
    )
    code=$?
    if [ "$output" = "-o here" ] && [ $code = 2 ]; then
      expect_match err "'here' exists; give -o another name, or remove it"
    elif [ $code = 125 ]; then
      expect_match err "of the $limit files that may be open at once \(ulimit -n\) [0-9]+ are left, and varve needs 8; raise that limit, or close files"
      [ ! -e "new$limit" ] || fail "a profile of nothing with $limit descriptors"
    else
      expect_eq "exit code with $limit descriptors and '$output'" $code 6
      [ $limit -gt 7 ] || fail "no word of a limit of $limit"
      continue
    fi
    expect_one_line err
  done
done
expect_eq "exit code with 20 descriptors" $code 6
report summary here
expect_eq "exit code of the older profile's report" $code 0

# What the command closes is closed: a reader of its output finds the end, a writer to its input nobody, a lock is free.
cat >reader.py <<'P'
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
child.stdout.read()
print("lives" if os.path.exists("waits") else "ended")
open("go", "w").close()
child.wait()
P
rm -rf waits go
python3 reader.py "$VARVE" record -q -o closes bash -c 'touch waits; exec >&-; while [ ! -e go ]; do sleep 0.02; done; rm waits' >end
expect_eq "the command when its output ends" "$(cat end)" lives
cat >writer.py <<'P'
import os, signal, subprocess, sys, time
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
while not os.path.exists("closed"): time.sleep(0.02)
try:
    os.write(child.stdin.fileno(), b"x")
    print("written")
except BrokenPipeError:
    print("refused")
open("on", "w").close()
child.wait()
P
python3 writer.py "$VARVE" record -q -o reads bash -c 'exec <&-; touch closed; while [ ! -e on ]; do sleep 0.02; done' >written
expect_eq "a write to what the command has closed" "$(cat written)" refused
(
  exec 9>lock
  flock 9
  exec "$VARVE" record -q -o locks bash -c 'exec 9>&-; flock -n lock echo free || echo taken'
) >lock_says
expect_eq "a lock on a descriptor that the command has closed" "$(cat lock_says)" free

# A record lock that the shell took for the command is this process's, which loses it with the first descriptor it closes.
cat >locks.py <<'P'
import fcntl, os, sys
descriptor = os.open("record_lock", os.O_RDWR | os.O_CREAT, 0o600)
fcntl.lockf(descriptor, fcntl.LOCK_EX)
other = os.open("record_lock", os.O_RDWR)
for number in (descriptor, other): os.set_inheritable(number, True)
os.dup2(other, 0)
os.execvp(sys.argv[1], sys.argv[1:])
P
cat >probe.py <<'P'
import fcntl
try: fcntl.lockf(open("record_lock", "w"), fcntl.LOCK_EX | fcntl.LOCK_NB), print("free")
except OSError: print("taken")
P
python3 locks.py "$VARVE" record -q -o record_locks sh -c 'sleep 0.2; python3 probe.py; true' >lock_says
expect_eq "a record lock while the command runs" "$(cat lock_says)" taken

# What a library that the user preloads into varve has opened is none of those.
cat >opens.c <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int own;
static int recorder(void) {
  char name[64] = "";
  FILE* file = fopen("/proc/self/comm", "re");
  if (file && !fgets(name, sizeof name, file)) name[0] = 0;
  if (file) fclose(file);
  return strcmp(name, "varve\n") == 0;
}
__attribute__((constructor)) static void opens(void) { own = open("/dev/null", O_RDONLY | O_CLOEXEC); }
__attribute__((destructor)) static void looks(void) {
  if (recorder() && fcntl(own, F_GETFD) < 0) close(open("lost_own", O_CREAT | O_WRONLY, 0600));
}
C
gcc -shared -fPIC -o opens.so opens.c || fail "cannot compile"
run env LD_PRELOAD="$work/opens.so" "$VARVE" record -q -o opens sh -c 'exit 6'
expect_eq "exit code beside a preloaded library" $code 6
[ ! -e lost_own ] || fail "the recorder closed what a library of its own process had opened"

# The way to the profile may be closed, or gone, when it is read.
mkdir through
record -o /dev/fd/9/profile true 9<through
expect_match err 'profile in .*/through/profile; next'
[ -e through/profile/symbols ] || fail "a profile through a descriptor has no names"
record -o renamed sh -c 'mv renamed elsewhere; sleep 0.1'
expect_match err 'profile in .*/elsewhere; next'
