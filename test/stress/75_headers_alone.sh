#!/bin/bash
# SPDX-License-Identifier: MIT
# Every header compiles by itself, and every unit test, so includes can be written in any order. Here, as it takes a minute: the build
# compiles the viewer's sources several at a time, and `make fuzz` each by itself.
# long
. "$(dirname "$0")/../structure/common.inc"

{ find agent common viewer -name '*.h'; find test/unit -name '*.cc'; } | sort >"$work/all"
[ -s "$work/all" ] || fail "no headers"
# Several in one compiler run would hide what a header takes from the one before it. By make, which remembers those that did compile.
here=$(realpath --relative-to=. "$BUILD")
sed "s|.*|$here/alone/&|" "$work/all" | xargs env -u MAKEFLAGS make -s -k -j2 BUILD="$here" >"$work/log" 2>&1 || fail "$(head -20 "$work/log")"
