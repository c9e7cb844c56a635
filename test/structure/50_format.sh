#!/bin/bash
# SPDX-License-Identifier: MIT
# Sources are as clang-format makes them, and begin with their licence and what they are.
# long
. "$(dirname "$0")/common.inc"

find agent common viewer test -name '*.cc' -o -name '*.h' | sort >"$work/files"
${CLANG_FORMAT:-clang-format} --version >/dev/null || fail "no clang-format"
# Those that have changed since all were as they should be.
good=$BUILD/formatted
[ "$good" -nt .clang-format ] || rm -f "$good"
while IFS= read -r file; do [ "$good" -nt "$file" ] || echo "$file"; done <"$work/files" >"$work/changed"
xargs -r ${CLANG_FORMAT:-clang-format} --dry-run -Werror <"$work/changed" >"$work/log" 2>&1 ||
  fail "run make format; $(grep -c 'error:' "$work/log") places: $(grep 'error:' "$work/log" | cut -d: -f1 | sort -u | head -20 | tr '\n' ' ')"
# One process for all: one for each of a thousand files took half a minute.
xargs awk 'FNR == 1 { licensed = $0 == "// SPDX-License-Identifier: MIT" } FNR == 2 && licensed && /^\/\/ / { print FILENAME }' \
  <"$work/files" >"$work/good"
bad=$(comm -23 "$work/files" <(sort "$work/good") | tr '\n' ' ')
[ -z "$bad" ] || fail "without licence or first paragraph: $bad"
touch -r "$work/files" "$good"  # what was changed meanwhile is looked at again
