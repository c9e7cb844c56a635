#!/bin/bash
# SPDX-License-Identifier: MIT
# Levels, bands and states as reports give them, against a program that says when each of its threads worked: with switches and
# with sweeps, as another user, and on one processor. And thread level parallelism of a make -j2 against a second reader.
# alone
. "$(dirname "$0")/agent.inc"

program=$programs/levels
cat >compare.py <<'P'
"""compare.py PERCENT STOLEN_NS STOPPED_NS: out is what the program said, concurrency.json, threads.csv and hotspots.csv are the report's."""
import csv, json, sys
share, stolen, stopped = float(sys.argv[1]) / 100, int(sys.argv[2]), int(sys.argv[3])
truth = json.loads(open("out").readlines()[-1])
report = json.load(open("concurrency.json"))
phase = truth["phase_ns"]
bad = []
def near(what, got, wanted, off):
    if abs(got - wanted) > off: bad.append("%s: %.1f ms, the program says %.1f, allowed %.1f" % (what, got / 1e6, wanted / 1e6, off / 1e6))

# Levels: how many were at work at each moment. What is not in any phase (the program's begin and end) is added to none.
edges = sorted((time, step) for w in truth["workers"] for key, step in (("begin", 1), ("end", -1)) for time in w[key] if time)
wanted, level, since = [0] * 8, 0, truth["phases"][0]
for time, step in edges + [(truth["phases"][4] + phase, 0)]:
    wanted[level] += max(0, time - since)
    level, since = level + step, max(since, time)
got = {row["level"]: row["elapsed_ns"] for row in report["levels"]}
outside = max(0, report["elapsed_ns"] - 5 * phase)  # the loader, and threads that are made and joined
if sum(got.values()) != report["elapsed_ns"]: bad.append("levels do not add up to the elapsed time")
# Threads switch on and off at different moments, and a sweep knows the moments only to its length.
for i in (0, 1, 2, 3, 4): near("level %d" % i, got.get(i, 0), wanted[i], share * max(wanted[i], phase) + outside + stopped + 5e6)

threads = {row["name"]: row for row in csv.DictReader(open("threads.csv"))}
number = lambda row, key: int(row[key] or 0)
for name, row in threads.items():
    if number(row, "lifetime_ns") < phase: continue
    parts = number(row, "cpu_ns") + number(row, "inactive_ns") + number(row, "wait_ns")
    near("CPU + Inactive + Wait of " + name, parts, number(row, "lifetime_ns"), 0.01 * number(row, "lifetime_ns") + 5e6)
# A thread that was woken up and not yet switched in is ready for the kernel, and nobody tells an observer of switches. What other
# guests of the machine took from a thread is Inactive, and the kernel does not count it as a delay.
woken = lambda w: sum(begin - due for begin, due in zip(w["begin"], truth["phases"]) if begin)
near("Inactive of the workers", sum(number(threads["worker-%d" % i], "inactive_ns") for i in range(4)),
     sum(w["ready"] for w in truth["workers"]), 0.02 * sum(w["ready"] for w in truth["workers"]) + sum(map(woken, truth["workers"])) + stolen + 10e6)
near("Wait of the sleeper", number(threads["sleeper"], "wait_ns"), truth["slept"], 0.01 * truth["slept"] + 5e6)

# Bands, with four threads as the target: a level of 1 or 2 is Poor, 3 Ok, 4 Ideal.
functions = {row["function"]: row for row in csv.DictReader(open("hotspots.csv"))}
def part_at(first, last, wanted_level):
    """Share of the time of these phases at which so many were at work."""
    at = sum(1 for i in range(1000) if sum(1 for w in truth["workers"] for b, e in zip(w["begin"], w["end"])
             if b <= truth["phases"][first] + (i + 0.5) * phase * (last + 1 - first) / 1000 < e) in wanted_level)
    return at / 1000
for name, column, least in (("alone", "poor_ns", part_at(1, 1, (0, 1, 2))), ("in_pairs", "poor_ns", part_at(2, 2, (0, 1, 2))),
                            ("all_four", "ideal_ns", part_at(3, 3, (4,)))):
    row = functions[name]
    samples = max(1, number(row, "samples"))
    have = number(row, column) / max(1, number(row, "self_ns"))
    if have < least - share - 3 * (0.25 / samples) ** 0.5: bad.append("%s: %.3f of its time is %s, it should be %.3f" % (name, have, column, least))
print("\n".join(bad))
sys.exit(bool(bad))
P

# Hundredths of a second that the hypervisor gave to others, all processors together.
stolen() { awk '$1 == "cpu" {print $9}' /proc/stat; }
# levels SOURCE FACTOR PERCENT WRAPPER...
levels() {
  local source=$1 factor=$2 percent=$3
  shift 3
  rm -rf p
  local before=$(stolen)
  run "$@" "$VARVE" record -q -o p --run-states $source "$program" $((200 * factor))
  local taken=$((($(stolen) - before) * 10000000))
  [ $code = 0 ] || broken "exit code of $program is $code$(show)"
  "$VARVE" report concurrency --target 4 --format json p >concurrency.json || fail "report concurrency"
  "$VARVE" report threads --target 4 --format csv p >threads.csv || fail "report threads"
  "$VARVE" report hotspots --target 4 --format csv p >hotspots.csv || fail "report hotspots"
  expect_eq "source" "$(python3 -c 'import json; print(json.load(open("concurrency.json"))["source"])')" $source
  python3 compare.py $percent $taken ${stopped:-0} >differences || fail "$source $*: $(cat differences)"
}
processor=$(first_processor)
switches() { levels switches $1 2 env; }
sweeps() { levels sweeps $1 5 env; }
switches_on_one() { levels switches $1 2 taskset -c $processor; }
# On one processor a thread that begins waits for the others, and a sweep may miss the whole of a turn: twice the work.
sweeps_on_one() { levels sweeps $((2 * $1)) 5 taskset -c $processor; }
switches_as_nobody() { levels switches $1 2 $nobody; }
sweeps_as_nobody() { levels sweeps $1 5 $nobody; }

sources="switches sweeps"
can switches --run-states switches || sources=sweeps
for source in $sources; do
  more_work $source
  more_work ${source}_on_one
done

# What the program could use is what counts, not what varve could: by taskset inside, and changed while it ran.
fact() { "$VARVE" report concurrency --scale utilization --format json "$1" | python3 -c "import json,sys; print('%.10g' % json.load(sys.stdin)['$2'])"; }
on_one() {
  record -q -o one --run-states $1 taskset -c $processor sleep 0.5
  expect_eq "$1: target under taskset" "$(fact one target)" 1
  record -q -o later --run-states $1 sh -c "sleep 0.3; exec taskset -c $processor sleep 0.6"
  expect_eq "$1: target where most of the time had one processor" "$(fact later target)" 1
  report concurrency later
  expect_match out 'might use changed while it ran'
}
if [ "$(nproc)" -gt 1 ]; then
  at_once on_one $sources
else
  echo "SKIPPED affinity: one processor"
fi

# The limit of a cgroup, of either version: half a processor. Threads that it stops are ready, so levels stay what they are.
group=varve-test-$$
limit_of() {  # limit_of FOLDER FILE VALUE: makes a cgroup with that limit
  mkdir "$1" 2>/dev/null || return
  [ -e "$1/$2" ] && echo "$3" >"$1/$2" || { rmdir "$1"; return 1; }
}
in_group() { bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$@"; }  # in_group FOLDER COMMAND...
# Linux 6.18 stops a thread on its way out of the kernel: who was woken and is active for the kernel reads its own clock only when it
# may go on, three quarters of a period later at most.
switches_limited() { stopped=80000000 levels switches $1 2 in_group "$limit"; }
# A thread that is stopped half of the time is seen at work by half as many sweeps.
sweeps_limited() { stopped=80000000 levels sweeps $((2 * $1)) 5 in_group "$limit"; }
limits=
for place in "" unified/; do
  limit_of "/sys/fs/cgroup/$place$group" cpu.max "50000 100000" && limits+=" /sys/fs/cgroup/$place$group" && break
done
[ -n "$limits" ] || echo "SKIPPED a limit of version 2: its cgroups cannot be written"
limit_of "/sys/fs/cgroup/cpu/$group" cpu.cfs_quota_us 50000 && limits+=" /sys/fs/cgroup/cpu/$group" ||
  echo "SKIPPED a limit of version 1: its cgroups cannot be written"
trap 'rmdir $limits 2>/dev/null; leave' EXIT
for limit in $limits; do
  for source in $sources; do
    more_work ${source}_limited
    expect_eq "target with $limit" "$(fact p target)" 0.5
  done
done

# Where only version 1 can be limited, the file of version 2 is shown by a mount of our own.
in_version_2() {
  unshare --mount sh -c 'mount -t tmpfs cgroup /sys/fs/cgroup && echo "50000 100000" >/sys/fs/cgroup/cpu.max && exec "$@"' sh "$@"
}
if in_version_2 true 2>err; then
  run in_version_2 "$VARVE" record -q -o two "$program" 100
  expect_eq "exit code with a file of version 2" $code 0
  expect_eq "target with a file of version 2" "$(fact two target)" 0.5
else
  echo "SKIPPED a file of version 2: $(cat err)"
fi

# What was delayed is in no level, and no time is at level 0 because of it.
record -q -o delayed --delay 500ms "$program" 200
report concurrency delayed
expect_match out 'What was paused, 0\.5.* is in no band'
delayed=$(fact delayed elapsed_ns) whole=$(summary elapsed_ns delayed)
[ $((whole - delayed)) -gt 450000000 ] && [ $((whole - delayed)) -lt 700000000 ] || fail "--delay: levels of $delayed of $whole ns"

# The same TLP from a second reader of the format, which knows what lies between the first switch and the last. What the kernel takes
# to begin and to end a process, which no switch tells, is in the report's alone: one thread's for one process (2 ms of a second on
# slow virtual machines), beside others' for compilers, about a hundredth: of thirteen processes that took 10 ms each, three.
same_tlp() {
  python3 "$root/test/e2e/run_states.py" $1 >states.json || fail "the observer file of $1"
  "$VARVE" report concurrency --format json $1 >concurrency.json || fail "report concurrency"
  python3 - $2 <<'P' || fail "TLP of $1"
import json, sys
levels, report = json.load(open("states.json"))["levels"], json.load(open("concurrency.json"))
work, busy, untold = sum(i * t for i, t in enumerate(levels)), sum(levels[1:]), report["elapsed_ns"] - sum(levels)
tlp, least = work / busy, (work + untold) / (busy + untold)
print("TLP %.4f, by the second reader %.4f to %.4f" % (report["tlp"], least, tlp))
assert least * 0.9995 < report["tlp"] < tlp * (1 + float(sys.argv[1])) and tlp >= 1
P
}
if [ "$sources" != sweeps ]; then
  record -q -o threads --run-states switches "$program" 200
  same_tlp threads 0.001
  mkdir project
  for i in 1 2 3 4; do printf '#include <map>\n#include <string>\nstd::map<std::string, int> m%d;\nint f%d() { return m%d["x"]; }\n' $i $i $i >project/$i.cc; done
  printf 'all: 1.o 2.o 3.o 4.o\n%%.o: %%.cc\n\tg++ -O1 -c -o $@ $<\n' >project/Makefile
  record -q -o make --run-states switches make -j2 -C project
  expect_eq "exit code of make" $code 0
  same_tlp make 0.03
fi

nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
if [ "$(id -u)" = 0 ] && chmod 755 "$work" && $nobody test -x "$VARVE" -a -x "$program"; then
  mkdir -m 777 open && cp compare.py open && cd open || fail "cannot enter a folder"
  more_work sweeps_as_nobody  # 80_run_states has switches, where this user is given them
else
  echo "SKIPPED another user: not root, or varve cannot be run by others"
fi
