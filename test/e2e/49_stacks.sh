#!/bin/bash
# SPDX-License-Identifier: MIT
# D-9, D-10, D-12: stacks that are not of the usual kind are right, or end with a reason that is named; nothing is lost.
. "$(dirname "$0")/agent.inc"

# whole PROFILE WHAT [SHARE]: so many of its stacks are whole, all unless told; if not, the report says why.
whole() {
  holds "whole stacks $2, of $("$VARVE" report quality $1 | sed -n '/not whole/,/^$/p')" "$(summary whole_stack_share $1) >= ${3:-1}"
}

# stack KIND FUNCTION...: nearly all the program's time lies under each of the functions, in that order from the root.
stack() {
  local kind=$1
  shift
  profile $kind $programs/odd_stacks $kind 300
  whole $kind "of $kind"
  # The widest row of each function: its depth and its time.
  rows top-down $kind "[max([(n(r, 'total_ns'), int(r['depth'])) for r in rows if r['function'] == f] or [(0, 0)]) for f in '$*'.split()]" >found
  python3 - "$(truth leaf)" <<'P' || fail "stacks of $kind: time and depth of $*: $(cat found)"
import ast, sys
found = ast.literal_eval(open("found").read())
enough = all(time > 0.9 * int(sys.argv[1]) - 10e6 for time, depth in found)
sys.exit(not enough or [depth for time, depth in found] != sorted(set(depth for time, depth in found)))
P
  nothing_of_ours $kind
  ledger $kind
}
stack signal_frame main signal_frame on_signal leaf
stack alternate_stack main alternate_stack on_signal leaf
stack coroutine coroutine_body leaf
stack vdso main vdso
stack plt main plt
expect_eq "samples in the vDSO" "$(rows modules vdso '[r for r in rows if "vdso" in r["module"]] != []')" True

# Constructors of libraries, which the loader calls before main() from code without CFI: of one that needs the agent, so that this is begun.
build libearly.so -shared -fPIC -I"$root/test/programs" -Wl,--no-as-needed -L"$BUILD" -l:libvarve.so <<'P'
#include "work.h"
static uint64_t x = 7;
__attribute__((noinline)) static void construct(void) { SPIN(x, 100 * STEPS_PER_MS); }
__attribute__((constructor)) static void begin(void) {
  construct();
  __asm__ volatile("" ::"r"(x));
}
P
build constructed -L. -Wl,--no-as-needed -learly -Wl,-rpath-link,"$BUILD" -Wl,-rpath,"$PWD" <<<'int main(void) { return 0; }'
profile early ./constructed
whole early "of constructors"
holds "time under constructors" "$(rows hotspots early 'total("construct")') > 0.5 * $(summary cpu_ns early)"

profile flight $programs/in_flight 1000
# One in some 2000 is in the last instructions of _Unwind_Resume, which have the registers of two frames and no CFI for that: one of
# the hundred may be.
whole flight "while exceptions fly" 0.96
holds "time under the destructor" "$(rows hotspots flight "sum(n(r, 'total_ns') for r in rows if 'Burns' in r['function'])") > 0.5 * $(summary cpu_ns flight)"

profile pointer $programs/no_cfi pointer 300
whole pointer "by frame pointer"
for function in main caller with_pointer leaf; do
  holds "time under $function" "$(rows hotspots pointer "total('$function')") > 0.9 * $(truth leaf) - 10e6"
done
profile none $programs/no_cfi none 300
holds "time of leaf" "$(rows hotspots none 'own("leaf")') > 0.9 * $(truth leaf) - 10e6"
expect_eq "made-up callers" "$(rows hotspots none '[r["function"] for r in rows if "0x" in r["function"]]')" "[]"
holds "no whole stack where nothing says who called" "$(summary whole_stack_share none) < 0.2"
expect_match <("$VARVE" report quality none) 'no_cfi'

record -q --stack-depth 100 -o deep $programs/odd_stacks deep_recursion 300
holds "time of leaf on a deep stack" "$(rows hotspots deep 'own("leaf")') > 0.9 * $(truth leaf) - 20e6"
# Both ends: the leaf below the recursion, the recursion below main, one row between them, and no second tree.
rows top-down deep "sorted({int(r['depth']) for r in rows if r['function'] in ('leaf', '[Skipped frame(s): deep recursion]')})" >depths
expect_eq "depths of the middle and of leaf" "$(cat depths)" "[49, 99]"
holds "time under main" "$(rows hotspots deep 'total("main")') > 0.95 * $(truth leaf) - 20e6"
holds "whole deep stacks" "$(summary whole_stack_share deep) == 1"
expect_match <("$VARVE" report quality deep) '^Whole stacks +100.00%.* whole at both ends and without their middle: .*--stack-depth'
expect_match <("$VARVE" report summary deep) '^Quality +100.0% of stacks whole \([1-9][0-9]* without their middle\)'
expect_match <("$VARVE" report quality --format json deep) '"deep_samples": *[1-9]'
expect_eq "lost samples" "$(summary lost deep)" 0
ledger deep

# Deeper than stacks are followed: the inner half, below the reason.
record -q --stack-depth 100 -o endless $programs/odd_stacks endless_recursion 300
expect_match <("$VARVE" report top-down endless) '\[Skipped frame\(s\): stack depth limit\]'
expect_match <("$VARVE" report quality endless) 'too deep to follow'
expect_eq "lost samples of the endless" "$(summary lost endless)" 0
ledger endless
