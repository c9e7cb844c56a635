#!/bin/bash
# SPDX-License-Identifier: MIT
# The short form of make accuracy: shares of functions are those that the program measured of itself.
# alone
. "$(dirname "$0")/agent.inc"

gcc -O2 -g -fno-omit-frame-pointer -I"$root" "$root/test/accuracy/truth.c" -o truth -lpthread || fail "truth.c"
PYTHONDONTWRITEBYTECODE=1 python3 "$root/test/accuracy/accuracy.py" --build "$BUILD" --program ./truth --check >out 2>err ||
  fail "$(cat err)"
expect_eq "cases" "$(grep -c 's\.e\.' out)" 4
