#!/bin/bash
# SPDX-License-Identifier: MIT
# Every header compiles by itself, so includes can be written in any order.
. "$(dirname "$0")/common.inc"

compile() {
  printf '#include "%s"\n' "$1" | ${CXX:-g++} -std=c++20 -I. -DVARVE_VERSION='"0"' -DVARVE_LIBDIR='""' -fsyntax-only -x c++ - 2>&1 |
    sed "s|^|$1: |"
}
export -f compile
# The build has already compiled a header alone where a source of the same name includes it first.
proven() { [ "$(grep -m1 '^#include' "${1%.h}.cc" 2>/dev/null)" = "#include \"$1\"" ]; }
find agent common viewer -name '*.h' | sort >"$work/all"
while IFS= read -r header; do proven "$header" || echo "$header"; done <"$work/all" >"$work/headers"
[ -s "$work/headers" ] || fail "no headers"
# Several in one compiler run would hide what a header takes from the one before it.
xargs -P2 -n1 bash -c 'compile "$0"' <"$work/headers" >"$work/log"
[ ! -s "$work/log" ] || fail "$(head -20 "$work/log")"
