#!/bin/bash
# SPDX-License-Identifier: MIT
# Run states of every thread, from both sources: against what the program did by its own clocks, as root and as another user,
# where the kernel refuses to show switches, without following, and not at all.
# alone
. "$(dirname "$0")/agent.inc"

program=$programs/run_states
# states DIR EXPRESSION: a Python expression over run, what stands in the observer file, t(NAME), the track of that name, and truth,
# the program's last line.
states() {
  [ -e $1/observer ] && [ $1.json -nt $1/observer ] || python3 "$root/test/e2e/run_states.py" $1 >$1.json || fail "the observer file of $1"
  python3 - $1.json "$2" <<'P' || fail "cannot evaluate $2"
import json, sys
run = json.load(open(sys.argv[1]))
truth = json.loads(open("out").readlines()[-1]) if open("out").read().startswith("{") else None
def t(name):
    found = [track for track in run["tracks"] if track["name"] == name]
    assert len(found) == 1, (name, len(found))
    return found[0]
def active(track): return track["running"] + track["ready"]
print(eval(sys.argv[2]))
P
}
is_true() { expect_eq "$1: $2" "$(states $1 "$2")" True; }

# Each worker is active in the phases of more threads than its number. A sweep knows no more than its stretch.
phases() {
  local source=$1 factor=$2 percent=$3
  shift 3
  rm -rf p
  run "$@" "$VARVE" record -q -o p --run-states $source "$program" phases $((300 * factor))
  [ $code = 0 ] || broken "exit code of phases is $code$(show)"
  is_true p "run['facts']['observer'] == '$source'"
  for worker in 0 1 2 3; do
    is_true p "abs(active(t('worker-$worker')) - sum($((300 * factor))e6 for n in truth['active'] if n > $worker)) < \
      max(30e6, $percent / 100 * 1200e6 * $factor)"
    is_true p "t('worker-$worker')['end'] is not None and t('worker-$worker')['waits'].get('sleep', 0) >= 1"
  done
  is_true p "all(abs(x['running'] + x['ready'] + x['blocked'] - x['end'] + x['start']) < 0.01 * (x['end'] - x['start']) \
    for x in run['tracks'])"
  is_true p "run['lost'] == 0"
}
switches() { phases switches $1 2 env; }
sweeps() { phases sweeps $1 5 env; }

allowed=yes
if ! can switches --run-states switches; then
  allowed=
else
  check true
  expect_eq "exit code of the check" $code 0
  expect_match out '^switches +ok +every context switch can be seen$'
  more_work switches
fi
more_work sweeps

# Processes and threads that live for less than two sweeps, into g.
many_short() {
  record -q -o g "$@" sh -c 'for i in 1 2 3 4 5 6; do python3 -c "$1"; readlink -f /; done & sleep 0.05; wait' sh 'import threading
for i in range(40):
  threads = [threading.Thread(target=sum, args=(range(20000),)) for _ in "ab"]
  for thread in threads: thread.start()
  for thread in threads: thread.join()'
}

# few_threads WHAT CONDITION: of the threads in g it is so for one in 200 at most. From a virtual machine a processor may be taken
# between two looks at clocks, and a thread of half a millisecond shows it.
few_threads() {
  rows threads g "[(r['name'], n(r, 'cpu_ns'), n(r, 'inactive_ns'), n(r, 'wait_ns'), n(r, 'lifetime_ns')) for r in rows
    if r['lifetime_ns'] and ($2)][len(rows) // 200:]" >wrong
  expect_eq "$1" "$(cat wrong)" "[]"
}

# Each kind of wait, by threads that name themselves after it: where sweeps come late they may miss one that lasts for 400 ms.
kinds() {
  local kind
  rm -rf w
  record -q -o w --run-states $source "$program" waits $((400 * $1))
  [ $code = 0 ] || broken "exit code of waits is $code$(show)"
  for kind in sleep lock condition io join; do is_true w "set(t('$kind')['waits']) == {'$kind'}"; done
  is_true w "sorted(''.join(x['waits']) for x in run['tracks'] if x['name'] == 'child') == ['join', 'sleep']"
  is_true w "all(x['blocked'] > $((350 * $1))e6 for x in run['tracks'])"
}
# A track lasts across exec, has its new name, and knows its parent.
tracks() {
  rm -rf e
  record -q -o e --run-states $source sh -c 'sleep 0.4; sleep 0.4; exec sleep 0.4'
  is_true e "sorted(x['name'] for x in run['tracks']) == ['sleep'] * 3"
  is_true e "len({x['pid'] for x in run['tracks']}) == 3 and all(x['ppid'] == run['tracks'][0]['pid'] for x in run['tracks'][1:])"
}
sleepers() {
  local source=$1 left least
  # A switch is seen or lost, whatever the length.
  if [ $source = sweeps ]; then more_work kinds; else kinds 1; fi
  if [ $source = sweeps ]; then more_work tracks; else tracks; fi
  record -q -o n --run-states $source --no-follow sh -c 'sleep 0.3; sleep 0.2'
  is_true n "[x['name'] for x in run['tracks']] == ['sh']"
  # A daemon is a part of the run until its end.
  record -q -o d --run-states $source setsid --fork sleep 0.4
  is_true d "any(x['name'] == 'sleep' and x['end'] - x['start'] > 300e6 for x in run['tracks'])"
  # Stopped threads do not run.
  record -q -o s --run-states $source sh -c '(sleep 0.3; kill -CONT $$) & kill -STOP $$; true'
  is_true s "max(x['blocked'] for x in run['tracks'] if x['pid'] == run['tracks'][0]['pid']) > 200e6"
  # A thread that is not the first executes a program: what it did before is its own, what it does then the first one's, which
  # may have left long before.
  for left in "" 0; do
    rm -rf x
    record -q -o x --run-states $source "$program" exec 300 $left
    expect_eq "exit code of exec" $code 0
    # What a thread did since the last sweep before it is gone no sweep knows.
    least=$([ $source = sweeps ] && echo 200 || echo 250)
    is_true x "all(sum(active(x) for x in run['tracks'] if (x['tid'] == x['pid']) == first) > ${least}e6 for first in (True, False))"
    is_true x "sum(active(x) for x in run['tracks'] if x['tid'] == x['pid']) < 500e6"
    is_true x "len({x['tid'] for x in run['tracks']}) == 2 and all(x['end'] for x in run['tracks'])"
    rows threads x '[r["name"] for r in rows if r["tid"] and not r["wait_ns"]]' >without
    expect_eq "$source: threads without run states" "$(cat without)" "[]"
  done
  # A thread that never waits is seen on the processors that it was on, also when its name is looked at less often, and by the
  # name that it took while it ran.
  rm -rf m
  run "$VARVE" record -q -o m --run-states $source "$program" moves 180
  is_true m "{p for p in t('renamed')['processors'] if p < 2**32 - 1} >= set(truth['processors'])"
  rows threads m '[n(r, "processors_used") for r in rows if r["tid"]]' >used
  is_true m "$(cat used) == [len(t('renamed')['processors'])] or 2**32 - 1 in t('renamed')['processors']"
  # Recording ends before the command does.
  record -q -o l --run-states $source --duration 200ms sleep 0.5
  is_true l "len(run['tracks']) == 1 and run['tracks'][0]['end'] is None"
  rows threads l '[n(r, "lifetime_ns") < 0.4e9 for r in rows if r["tid"]]' >short
  expect_eq "$source: lifetimes within the recording" "$(cat short)" "[True]"
}
at_once sleepers ${allowed:+switches} sweeps

# CPU + Inactive + Wait is the lifetime, also of processes and threads that no sweep saw.
for source in ${allowed:+switches} sweeps; do
  rm -rf g
  many_short --run-states $source
  rows threads g 'len([r for r in rows if r["wait_ns"] and r["lifetime_ns"]]) > 400' >many
  expect_eq "$source: enough threads" "$(cat many)" True
  few_threads "$source: parts that are not the lifetime" 'r["wait_ns"] and
    abs(n(r, "cpu_ns") + n(r, "inactive_ns") + n(r, "wait_ns") - n(r, "lifetime_ns")) > 0.01 * n(r, "lifetime_ns") + 2e3'
done

# Without an observer, too, nothing has more CPU time than it lived, and no process lived shorter than its threads.
rm -rf g
many_short --run-states off
few_threads "more CPU time than lifetime" 'n(r, "cpu_ns") > 1.01 * n(r, "lifetime_ns") + 2e3'
"$VARVE" report processes --format csv g >processes.csv || fail "report processes"
rows threads g '[r["name"] for r in rows if r["lifetime_ns"] and not any(
  p["pid"] == r["pid"] and p["lifetime_ns"] and n(p, "start_ns") <= n(r, "start_ns") and
  n(p, "start_ns") + n(p, "lifetime_ns") >= n(r, "start_ns") + n(r, "lifetime_ns") for p in csv.DictReader(open("processes.csv")))]' >outside
expect_eq "threads that outlived their processes" "$(cat outside)" "[]"

record -q -o off --run-states off true
expect_eq "exit code" $code 0
[ ! -e off/observer ] || fail "an observer file without an observer"
grep -qa 'observer.off' off/session || fail "the session does not say that there was no observer"

# A command that cannot be run leaves nothing.
record -q -o nothing ./does-not-exist
[ ! -e nothing ] || fail "a profile of a command that was not found: $(ls nothing)"
printf '#!/does/not/exist\n' >broken && chmod +x broken
record -q -o nothing ./broken
[ ! -e nothing ] || fail "a profile of a command that cannot be executed: $(ls nothing)"

# As containers do it: perf_event_open is refused.
build refuse <<'C'
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char** argv) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {4, rules};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 125;
  execvp(argv[1], argv + 1);
  return 127;
}
C
run ./refuse "$VARVE" record -q -o r sh -c 'sleep 0.2; exit 7'
expect_eq "exit code where switches are refused" $code 7
is_true r "run['facts']['observer'] == 'sweeps' and 'EPERM' in run['facts']['observer_reason'] and run['sweeps'] > 1"
run ./refuse "$VARVE" check true
expect_match out '^switches +ok +run states come from looks at /proc, .*: '
run ./refuse "$VARVE" record -q -o refused --run-states switches touch started
expect_eq "exit code where only switches would do" $code 2
expect_one_line err
expect_match err 'EPERM'
[ ! -e started ] && [ ! -e refused ] || fail "the command was started all the same"

# Another user than root.
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
if [ "$(id -u)" = 0 ] && chmod 755 "$work" && $nobody test -x "$VARVE" -a -x "$program"; then
  mkdir -m 777 open && cd open || fail "cannot enter a folder"
  as_nobody() { phases $source $1 $percent $nobody; }
  # By what this user is given; 83_levels has sweeps.
  source=sweeps percent=5
  [ -z "$allowed" ] || ! as=$nobody can switches --run-states switches || source=switches percent=2
  more_work as_nobody
else
  echo "SKIPPED another user: not root, or varve cannot be run by others"
fi

# A thread that executes a program leaves nothing hidden; a set-user-id program of another user is named.
build thread_execs -lpthread <<'C'
#include <pthread.h>
#include <unistd.h>
static void* executes(void* unused) { return execl("/bin/sleep", "sleep", "0.4", (char*)0), unused; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, executes, 0);
  for (;;) pause();
}
C
record -q -o executes ./thread_execs
report quality executes
expect_no_match out 'The kernel shows nothing of'
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
if [ "$(id -u)" = 0 ] && chmod 755 "$work" && $nobody test -x "$VARVE"; then
  cp /bin/sleep raised && chmod u+s raised && mkdir -m 777 free
  run $nobody "$VARVE" record -q -o free/raised sh -c './raised 0.5; true'
  report concurrency free/raised
  if grep -q 'every switch' out; then
    report quality free/raised
    expect_match out 'The kernel shows nothing of raised'
  fi
  # One that is looked at between its fork and its exec is known; three are not.
  unlisted="$nobody $VARVE record -q -o free/unlisted --run-states sweeps sh -c './raised 0.2; ./raised 0.2; ./raised 0.2'"
  if unshare -m mount -t proc -o hidepid=2 proc /proc; then
    run unshare -m sh -c "mount -t proc -o hidepid=2 proc /proc && $unlisted"
    report quality free/unlisted
    expect_match out '/proc does not show this user [0-9]+ process'
  fi
fi
