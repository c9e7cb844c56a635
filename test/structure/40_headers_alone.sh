#!/bin/bash
# SPDX-License-Identifier: MIT
# Every header compiles by itself, so includes can be written in any order; with ALL every unit test, too.
# long
. "$(dirname "$0")/common.inc"

# A source of the same name that includes it first compiles it alone: in the build those of the agent do. Those of the viewer are
# compiled several at a time, so stress/75 asks for all of theirs (ALL), and `make fuzz` compiles each source by itself, but for
# unit tests.
proven() { [ -z "${ALL:-}" ] && [ "$(grep -m1 '^#include' "${1%.h}.cc" 2>/dev/null)" = "#include \"$1\"" ]; }
{ find agent common viewer -name '*.h'; [ -z "${ALL:-}" ] || find test/unit -name '*.cc'; } | sort >"$work/all"
while IFS= read -r header; do proven "$header" || echo "$header"; done <"$work/all" >"$work/headers"
[ -s "$work/headers" ] || fail "no headers"
# Several in one compiler run would hide what a header takes from the one before it. By make, which remembers those that did compile.
here=$(realpath --relative-to=. "$BUILD")
sed "s|.*|$here/alone/&|" "$work/headers" | xargs env -u MAKEFLAGS make -s -k -j2 BUILD="$here" >"$work/log" 2>&1 || fail "$(head -20 "$work/log")"
