#!/bin/bash
# SPDX-License-Identifier: MIT
# D-18, hazards 14 and 15: fifty calls that wait end as they do without us, by what they wait for, by their limit and by the
# program's own signals, though timers expire on the way into them; limits are not stretched.
# calm
# long
. "$(dirname "$0")/agent.inc"
times=${STRICT_TIMES:-8}  # a call

# ended FILE: without the one call in which the kernel itself sends what has expired (io_cqring_wait runs task work): a tick there
# is EINTR, as any signal is.
ended() { grep -v '^io_uring_enter:' "$1"; }

# as_bare MODE DIR OPTIONS...: in a folder of its own, the program's words are those of the bare run.
as_bare() {
  local mode=$1 directory=$2
  shift 2
  mkdir "$work/$directory" && cd "$work/$directory" || exit 1
  record -q "$@" -o profile $programs/strict_waits "$mode" $times
  expect_eq "exit code of $mode $*" $code 0
  diff <(ended "$work/bare.$mode") <(ended out) >different || fail "calls end otherwise with $*: $(cat different)"
}
for mode in calm own; do
  $programs/strict_waits $mode 3 >bare.$mode || fail "the bare run fails"
done
expect_eq "calls" "$(wc -l <bare.calm)" 51
expect_eq "limits that ended early, and ends by no signal of the program's" "$(grep -vc ', early 0, strange 0$' bare.calm)" 0
expect_match bare.own '^poll, SA_RESTART: EINTR, handled 1$'
expect_match bare.own '^read, SA_RESTART: returned 1, handled 1$'
expect_match bare.own '^write of much, no restart: returned 65536, handled 1$'

# Two at a time: each has one thread that works.
(
  trap - EXIT
  as_bare calm ticks --interval 1ms
  as_bare own own_ticks --interval 1ms
) &
beside=$!
(
  trap - EXIT
  as_bare own own_unseen --interval 1ms --waits off
  as_bare calm unseen --interval 1ms --waits off
  as_bare calm seldom --interval 10ms
) && others=0 || others=1
wait $beside && [ $others = 0 ] || exit 1
# Ticks that came in a call stand below it. A tenth to a quarter of the calls have one, of a busy machine fewer.
rows hotspots ticks/profile 'sum(n(r, "total_ns") for r in rows if r["function"].startswith(("waits_", "sends_", "receives_", "writes_")))' --limit 1000 >within
holds "CPU time of samples in calls that wait" "$(cat within) > 4 * 4e6"

# How late a limit of 10 ms comes back is at most 5 % of it more than bare, call by call: see the program for what is compared.
# Both at once, so that both have the same machine: they wait nearly all of their time.
late() {
  $programs/strict_waits limits $((11 * $1)) >bare.limits &
  local bare=$!
  record -q --interval 1ms -o late.$1 $programs/strict_waits limits $((11 * $1))
  [ $code = 0 ] || broken "exit code of limits is $code$(show)"
  wait $bare || fail "the bare run of limits fails"
  python3 - <<'P' || fail "limits are stretched: $(cat stretched)"
import sys
read = lambda name: dict(line.rsplit("\t", 1) for line in open(name))
bare, out = read("bare.limits"), read("out")
stretched = {call: (int(bare[call]), int(out[call])) for call in bare if int(out[call]) - int(bare[call]) > 0.05 * 10e6}
early = [call for call in out if int(out[call]) < 0]
open("stretched", "w").write(f"{stretched} early: {early}")
sys.exit(bool(stretched or early or len(bare) < 15 or bare.keys() != out.keys()))
P
}
more_work late
