#!/bin/bash
# SPDX-License-Identifier: MIT
# D-19: processes made in every way: one file for each program image, output and exit code as without us.
. "$(dirname "$0")/agent.inc"

# kind, images that leave a file, images that work for longer than an interval and so have samples; a shell may meet a tick, too
while read -r kind images busy; do
  "$programs/process_kinds" $kind >bare 2>&1 </dev/null
  bare_code=$?
  run timeout 60 "$VARVE" record -q --interval 5ms -o $kind "$programs/process_kinds" $kind </dev/null
  expect_eq "exit code of $kind" $code $bare_code
  cmp -s out bare || fail "output of $kind differs from the bare run's: $(cat bare)$(show)"
  expect_eq "files of $kind" "$(agent_files $kind)" $images
  expect_eq "images of $kind in the report" "$(rows processes $kind 'len([r for r in rows if r["pid"]])')" $images
  holds "images of $kind with samples" "$busy <= $(rows processes $kind 'len([r for r in rows if r["pid"] and n(r, "samples")])') <= $images"
  ledger $kind
  holds "no more time with $kind than the kernel charged" "$(summary sampled_ns $kind) + $(summary residual_ns $kind) <= $(summary user_ns $kind) + $(summary system_ns $kind) + 10e6"
done <<'LIST'
fork 2 2
fork_exit 2 2
vfork 2 2
spawn 2 2
system 3 2
popen 3 2
double_fork 3 3
failing_exec 1 1
empty_environment 3 2
exec_in_thread 2 1
fork_in_thread 2 2
quick_exit 2 2
LIST

for kind in fork system vfork; do
  record -q --no-follow -o alone-$kind "$programs/process_kinds" $kind
  expect_eq "exit code without following" $code 0
  expect_eq "files of $kind without following" "$(agent_files alone-$kind)" 1
done
record -q --no-follow -o p1 "$programs/process_kinds" preload_of_child
expect_eq "LD_PRELOAD of a child that is not followed" "$(cat out)" none
LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libz.so.1 record -q --no-follow -o p2 "$programs/process_kinds" preload_of_child
expect_eq "the user's own LD_PRELOAD" "$(cat out)" /usr/lib/x86_64-linux-gnu/libz.so.1

# Nobody waits for the children of a process that ignores SIGCHLD, and the kernel adds their time to no sum.
record -q -o ignores python3 -c '
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for i in range(3):
  if os.fork() == 0:
    while time.process_time() < 0.2: pass
    os._exit(0)
try: os.wait()
except ChildProcessError: pass'
expect_eq "exit code of a program that ignores its children" $code 0
holds "time of children that nobody waited for" "$(summary sampled_ns ignores) > 400e6"
expect_match <("$VARVE" report quality ignores) 'The kernel charged 0\.[0-9]+ s less than the agents saw: .* SIGCHLD'

# What the kernel takes to give back the memory of a process is known by whoever reaps it: bash by waitpid, dash by wait3, python3
# by wait4, by looking and in a signal's handler.
touch='import sys; memory = bytearray(200 << 20)'
reaper='
import os, signal, sys, time
def start():
  pid = os.fork()
  if pid == 0: os.execvp("python3", ["python3", "-c", sys.argv[1]])
  return pid
os.wait4(start(), 0)
start(); os.wait()
while os.waitpid(-1, os.WNOHANG if start() else 0) != (0, 0): pass
while os.waitpid(-1, os.WNOHANG)[0] == 0: time.sleep(0.01)
ended = []
signal.signal(signal.SIGCHLD, lambda *_: ended.append(os.wait()))
start()
while not ended: time.sleep(0.01)
'
profile by-bash bash -c "python3 -c '$touch'; true"
profile by-dash dash -c "python3 -c '$touch'; true"
profile by-python python3 -c "$reaper" "$touch"
profile alone python3 -c "$touch"
for name in by-bash by-dash by-python alone; do
  ledger $name
  holds "not sampled with $name: $(summary unsampled_ns $name) of $(summary cpu_ns $name)" "$(summary unsampled_ns $name) <= 0.002 * $(summary cpu_ns $name)"
done

# In a pid namespace of its own a program stands under its number there, once: what the observer saw of it, from outside, is in the same
# row. Its threads are known by their numbers there, and where switches are told by when they began.
if unshare --pid --fork true 2>/dev/null; then
  build pair -lpthread <<'END'
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
static void burn(long ms) {
  struct timespec now;
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms);
}
static void *run(void *name) {
  prctl(PR_SET_NAME, name);
  burn(100);
  usleep(200000);
  return NULL;
}
int main(void) {
  pthread_t threads[2];
  prctl(PR_SET_NAME, "pair");
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, run, i ? "second" : "first"), usleep(100000);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  burn(100);
  return 0;
}
END
  for run_states in auto sweeps; do
    profile inside unshare --pid --fork sh -c "./pair; true"
    ledger inside
    expect_eq "threads in a namespace, by $run_states" \
      "$(rows threads inside "sorted((r['name'], r['tid']) for r in rows if r['name'] in ('pair', 'first', 'second'))")" \
      "[('first', '3'), ('pair', '2'), ('second', '4')]"
    # Without what the observer saw nothing would be known of their waits.
    expect_eq "threads that wait" "$(rows threads inside "sum(n(r, 'wait_ns') > 1e8 for r in rows if r['name'] in ('pair', 'first', 'second'))")" 3
    expect_eq "processes in a namespace" "$(rows processes inside "sorted(r['pid'] for r in rows if r['pid'] and r['program'].endswith(('/pair', '/dash', '/bash', '/sh')))")" \
      "['1', '2']"
  done
  run_states=
else
  echo "SKIPPED: a pid namespace; there is no right to make one"
fi
