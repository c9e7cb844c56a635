#!/bin/bash
# SPDX-License-Identifier: MIT
# make bench-micro: what single operations cost, agent and viewer, as tables. Times are of this machine at this
# moment: compare rows, not machines.
set -eu
cd "$(dirname "$0")/../.."
build=$(realpath "${BUILD:-build/release}")
export LC_ALL=C.UTF-8
work=$(mktemp -d "${TMPDIR:-/tmp}/varve-micro.XXXXXX")
trap 'rm -rf "$work"' EXIT

"$build/micro/unwind_micro"
"$build/micro/record_micro"

# The recorder's account of the handler, which has no signal's delivery in it.
echo -e "\nHandler, a tick (1 s of CPU time at 1 ms)\n\n| frames | us |\n|---|---|"
for depth in 3 10 30 100 300; do
  "$build/varve" record -q --no-finalize --interval 1ms -o "$work/deep-$depth" -- "$build/micro/calls_micro" deep "$depth"
  "$build/varve" report summary --format json "$work/deep-$depth" |
    python3 -c "import json, sys; s = json.load(sys.stdin); print(f'| $depth | {s[\"handler_ns\"] / s[\"ticks\"] / 1000:.1f} |')"
done

run_calls() { "$@" "$build/micro/calls_micro"; }
run_calls env > "$work/bare"
run_calls "$build/varve" record -q --waits off -o "$work/off" -- > "$work/off.txt"
run_calls "$build/varve" record -q -o "$work/on" -- > "$work/on.txt"
echo -e "\nCalls that varve stands before, ns\n\n| call | bare | waits off | waits on |\n|---|---|---|---|"
paste "$work/bare" "$work/off.txt" "$work/on.txt" | awk -F'\t' '{ print "| " $1 " | " $2 " | " $4 " | " $6 " |" }'

"$build/bench/generate_profile" "$work/generated" --samples "${SAMPLES:-300000}" --switches 300000 > "$work/log"
"$build/micro/reading_micro" "$work/generated"
