#!/bin/bash
# SPDX-License-Identifier: MIT
# varve.h in C and in C++, in programs of every kind: no effect bare; recorded, marks are found in their order with their
# times, and what a program pauses is in no sample but in the ledger.
# calm
. "$(dirname "$0")/agent.inc"
source=$root/test/programs/marks.c

compile() { "$@" -O1 -g -pthread || fail "cannot compile: $*"; }
compile gcc -Wall -Wextra -Wpedantic -Werror -o c_pie "$source" &
compile gcc -std=gnu99 -fno-pie -no-pie -o c_plain "$source" &
compile g++ -x c++ -Wall -Wextra -Werror -o cxx_pie "$source" &
compile g++ -x c++ -fno-pie -no-pie -flto -o cxx_plain "$source" &
compile gcc -static -o c_static "$source" &
for compiler in $(jobs -p); do wait $compiler || exit 1; done
for program in c_pie c_plain cxx_pie cxx_plain c_static; do
  run ./$program 1
  expect_eq "exit code of $program, bare" $code 0
  [ ! -s err ] || fail "$program says something, bare$(show)"
done

timeline() { "$VARVE" report timeline --format json "$@" >timeline.json || fail "report timeline $*"; }
marks() { python3 -c 'import json; print(" ".join(m["name"].split()[0] for m in json.load(open("timeline.json"))["marks"]))'; }

# A thread changes over at a tick, so what it did since the tick before is on the wrong side, and a busy machine's ticks
# are late: a few of them, which may be long, are under 5 % of a run that is long enough.
left_out_of_samples() {
  profile p ./$program $(($1 * 300))
  # In C++ the names have parameters.
  rows hotspots p '[sum(n(r, "total_ns") for r in rows if r["function"].split("(")[0] == f)
    for f in ("left_out", "left_out_in_child", "counted", "counted_again", "[paused]")]' >found
  python3 - "$(summary sampled_ns p)" "$(summary samples p)" <<'P' || fail "$program: found $(cat found)$(show)"
import ast, json, sys
truth = json.loads(open("out").readlines()[-1])
left_out, child, before, after, paused = ast.literal_eval(open("found").read())
interval = int(sys.argv[1]) / int(sys.argv[2])
def near(a, b): return abs(a - b) <= b / 20 + max(20e6, 2 * interval)
# The child spins for as long as left_out().
sys.exit(not (left_out == child == 0 and near(before, truth["before"]) and near(after, truth["after"])
              and near(paused, 2 * truth["paused"])))
P
}
for program in c_pie c_plain cxx_pie cxx_plain; do
  more_work left_out_of_samples
  "$VARVE" report summary --format json p >summary.json
  python3 - <<'P' || fail "$program: the ledger does not add up: $(cat summary.json)"
import json, sys
s = json.load(open("summary.json"))
words = " ".join(s["notes"])
sys.exit(s["cpu_ns"] != s["sampled_ns"] + s["residual_ns"] + s["unsampled_ns"] or "paused themselves" not in words)
P
  timeline p
  expect_eq "marks of $program" "$(marks)" "early begin pause child resume in a odd"
  python3 - <<'P' || fail "marks of $program: $(cat timeline.json)"
import json, sys
t = json.load(open("timeline.json"))
marks, pauses = t["marks"], t["pauses"]
at = {m["name"]: m for m in marks}
times = [m["time_ns"] for m in marks]
good = times == sorted(times) and all(m["tid"] for m in marks)
good &= at["in a thread"]["tid"] != at["begin"]["tid"] and at["in a thread"]["pid"] == at["begin"]["pid"]
good &= at["child"]["pid"] != at["begin"]["pid"] and len(marks[-2]["name"].encode()) == 119
good &= len(pauses) == 2  # of the program and of its child, and no third by the second call
own = next(p for p in pauses if p["pid"] == at["begin"]["pid"])
good &= at["pause"]["time_ns"] <= own["begin_ns"] < own["end_ns"] <= at["resume"]["time_ns"]
sys.exit(not good)
P
done

# Ranges between marks.
functions() { rows hotspots p '{r["function"].split("(")[0]: n(r, "self_ns") for r in rows if r["function"].startswith("counted")}' "$@"; }
python3 - "$(functions --time mark:begin..pause)" "$(functions --time mark:resume..)" "$(functions --time mark:..pause)" \
  "$(functions --time mark:pause..resume)" <<'P' || fail "functions between marks: $(cat rows.csv)"
import ast, sys
inner, after, before, paused = (set(name for name, ns in ast.literal_eval(a).items() if ns) for a in sys.argv[1:])
sys.exit(not (inner == before == {"counted"} and after == {"counted_again"} and not paused))
P
report timeline --time mark:begin..pause p
expect_eq "exit code of a range between marks" $code 0
expect_match out '\[marks\] +\|'
expect_match out 'Marks: begin at [0-9.]+ s, pause at'
expect_match out 'Filter --time mark:begin\.\.pause: '
expect_no_match out 'resume at'
report timeline p
expect_match out '\[paused\] .*='
expect_match out 'odd \\x1b\[31m'
report --time mark:begn.. p
expect_eq "exit code of an unknown mark" $code 1
expect_one_line err
expect_match err "no mark 'begn', but early, begin, pause, .*did you mean 'begin'"
report --time mark:end..x p
expect_match err "no mark 'end'"
report --time mark:resume..begin p
expect_match err "no mark 'begin' comes after the first 'resume', at"
for bad in mark: mark:.. mark:begin mark; do
  report --time $bad p
  expect_eq "exit code of --time $bad" $code 2
  expect_one_line err
done

# A program that marks without end fills no disk, and the report says what is missing.
profile many $programs/marks many
timeline many
count=$(python3 -c 'import json; print(len(json.load(open("timeline.json"))["marks"]))')
[ "$count" -gt 10000 ] && [ "$count" -lt 100000 ] || fail "$count marks were kept"
[ "$(summary profile_bytes many)" -lt 3000000 ] || fail "a profile of marks takes $(summary profile_bytes many) bytes"
report quality many
lost=$(sed -n 's/^\([0-9]*\) marks or pauses.*/\1/p' out)
expect_eq "marks kept and lost" $((count + ${lost:-0})) 200001
