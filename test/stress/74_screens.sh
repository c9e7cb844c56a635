#!/bin/bash
# SPDX-License-Identifier: MIT
# 50,000 random keys, clicks and sizes on each kind of profile, under AddressSanitizer and UBSan, other ones each time.
# alone
. "$(dirname "$0")/../e2e/common.inc"

replay=$root/build/soak/replay/screens
[ -x "$replay" ] || fail "not built: make VARIANT=soak BUILD=build/soak build/soak/replay/screens"
export VARVE_KEYS=${VARVE_KEYS:-50000} VARVE_SEED=${VARVE_SEED:-$((RANDOM << 16))}
printf '%s\0' "$root"/test/fuzz/corpus/screens/* | xargs -0 -n1 -P2 "$replay" >out 2>err || fail "with VARVE_SEED=$VARVE_SEED: $(head -c 4000 err)"
expect_eq "profiles" "$(grep -c ': 1 inputs' out)" "$(ls "$root/test/fuzz/corpus/screens" | wc -l)"
