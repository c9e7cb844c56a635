#!/bin/bash
# SPDX-License-Identifier: MIT
# D-22: dlopen, dlclose, exceptions and malloc on eight threads under ticks: neither a hang nor a crash. CPU_MS is each thread's
# share of the storm; the stress form has more.
. "$(dirname "$0")/agent.inc"

g++ -x c++ -O1 -g -shared -fPIC -o storm.so - <<'E' || fail "cannot compile the library"
extern "C" int call_and_throw(int depth) {
  if (!depth) throw depth;
  return call_and_throw(depth - 1) + 1;
}
E
interval_ms=${INTERVAL_MS:-4}
rm -rf storm
run timeout -s KILL ${LIMIT:-90} "$VARVE" record -q --interval ${interval_ms}ms -o storm $programs/storm ./storm.so ${CPU_MS:-400}
expect_eq "exit code of the storm" $code 0
expect_eq "the storm" "$(cat out)" '{"wrong": 0, "worked": 1}'
ledger storm
# Each load runs _init, which the C library's crti.o gives no CFI: a tick on its first instruction, whose page is read then, is followed,
# one further on is not. Of the rest nearly all is whole.
holds "whole stacks in the storm" "$(summary whole_stack_share storm) >= 0.95"
"$VARVE" report quality --format json storm >quality.json || fail "report quality"
broken_elsewhere=$(python3 -c '
import json
print(sum(row["share"] for row in json.load(open("quality.json"))["broken_stacks"] if row["module"] != "storm.so"))')
holds "whole stacks but for _init" "$broken_elsewhere <= 0.01"
nothing_of_ours storm
