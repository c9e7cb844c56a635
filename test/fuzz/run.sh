#!/bin/bash
# SPDX-License-Identifier: MIT
# make fuzz: runs each fuzzer it is given for FUZZ_SECONDS. New inputs go to build/fuzz/found/NAME; an input that fails is
# kept there as crash-*. What is worth keeping belongs into test/fuzz/corpus/NAME, by hand.
set -u
cd "$(dirname "$0")/../.." || exit 1
failed=0
for fuzzer in "$@"; do
  name=$(basename "$fuzzer")
  name=${name#fuzz_}
  found=build/fuzz/found/$name
  mkdir -p "$found"
  printf '%s: %s s\n' "$name" "${FUZZ_SECONDS:-600}"
  if "$fuzzer" -max_total_time="${FUZZ_SECONDS:-600}" -timeout=20 -rss_limit_mb=2048 -artifact_prefix="$found/" \
    "$found" "test/fuzz/corpus/$name" >"$found.log" 2>&1; then
    tail -1 "$found.log"
  else
    failed=$((failed + 1))
    grep -E 'ERROR|SUMMARY|Test unit written' "$found.log"
  fi
done
echo "$(($# - failed)) passed, $failed failed"
[ $failed = 0 ]
