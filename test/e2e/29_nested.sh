#!/bin/bash
# SPDX-License-Identifier: MIT
# varve record inside varve record: one recorder has the samples, the other says why it cannot.
. "$(dirname "$0")/common.inc"

record -o outer "$VARVE" record -o inner true
expect_eq "exit code of the inner varve record" $code 126
expect_match err "^varve record: varve itself is being recorded into '.*outer', .*--no-follow"
expect_eq "sentences of the inner one" "$(grep -c '^varve record:' err)" 1
[ ! -e inner ] || fail "the inner varve record made a profile"
[ -d outer ] || fail "the outer one made none"
record -o outer2 "$VARVE" check true
expect_eq "exit code of varve check inside" $code 1
expect_match out '^recorder +problem '

# Not followed, it is as if there were no outer one.
record -o outer3 --no-follow sh -c "'$VARVE' record -q -o inner3 sh -c 'exit 3'"
expect_eq "exit code" $code 3
expect_eq "exit code in the inner profile" "$(summary exit inner3)" 3
expect_eq "processes of the inner profile" "$(summary processes inner3)" 1

# The recorder itself, as any program: how varve is profiled with varve.
record -o outer4 --no-follow "$VARVE" record -q -o inner4 sh -c 'exit 4'
expect_eq "exit code of what a recorded varve records" $code 4
expect_eq "exit code in the inner profile" "$(summary exit inner4)" 4
expect_eq "processes of the outer profile" "$(summary processes outer4)" 1
expect_eq "processes of the inner profile" "$(summary processes inner4)" 1
