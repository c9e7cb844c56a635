#!/bin/bash
# SPDX-License-Identifier: MIT
# D-6: recursion is counted once in total; inlined calls have frames of their own; a tail call's caller is on no stack; a call that
# is the last instruction of its function is still that function's.
. "$(dirname "$0")/agent.inc"

near() { holds "$1: $2 of $3 ns" "abs($2 - $3) <= max(2.5 * $interval_ms * 1e6, 0.05 * $3)"; }

profile shapes $programs/shapes 400
near "self of recursion" "$(rows hotspots shapes 'own("recursion")')" "$(truth recursion)"
near "total of recursion, counted once" "$(rows hotspots shapes 'total("recursion")')" "$(truth recursion)"
depth='max([int(r["depth"]) for r in rows if r["function"] == "recursion"]) - min([int(r["depth"]) for r in rows if r["function"] == "recursion"])'
expect_eq "depth of recursion in the tree" "$(rows top-down shapes "$depth")" 9

near "self of an inlined function" "$(rows hotspots shapes 'sum(n(r, "self_ns") for r in rows if r["function"].startswith("inner_inlined"))')" "$(truth inlined)"
near "total of its caller" "$(rows hotspots shapes 'total("has_inlined")')" "$(truth inlined)"
"$VARVE" report top-down shapes >out
expect_match out 'inner_inlined.*\(inlined\)'
expect_no_match out 'has_inlined.*\(inlined\)'
near "self without inlined frames" "$(rows hotspots shapes 'own("has_inlined")' --no-inline)" "$("$VARVE" report hotspots --format csv shapes | awk -F, '$1 ~ /^inner_inlined/ {print $5}')"

record -q -o again $programs/shapes 400
near "self of a tail call's target" "$(rows hotspots again 'own("tail_target")')" "$(truth tail)"
expect_eq "tail caller on stacks" "$(rows hotspots again 'total("tail_caller")')" 0
near "total of the tail caller's caller" "$(rows hotspots again 'total("calls_tail")')" "$(truth tail)"
near "total of a function that ends in a call" "$(rows hotspots again 'total("noreturn_last")')" "$(truth noreturn)"
near "total of its caller" "$(rows hotspots again 'total("calls_noreturn")')" "$(truth noreturn)"
holds "whole stacks" "$(summary whole_stack_share again) == 1"
nothing_of_ours again
