#!/bin/bash
# SPDX-License-Identifier: MIT
# Live stacks of a compiler and of python3: ours and libunwind's agree on 99.9 % of them, or ours is the better one.
. "$(dirname "$0")/common.inc"

cat >heavy.cc <<'CC'
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <regex>
int main(int, char** v) {
  std::map<std::string, std::function<int(int)>> f{{"a", [](int x) { return x; }}};
  std::cout << std::regex_match(v[1], std::regex(v[2])) << f["a"](3) << std::mt19937(5)();
}
CC
cat >work.py <<'PY'
import json, random, re
def deep(n): return deep(n - 1) + 1 if n else len(sorted(range(300), key=lambda x: -x))
for i in range(60):
    data = {str(k): [random.random() for _ in range(50)] for k in range(100)}
    text = json.dumps(data); json.loads(text); sorted(re.findall(r'\d+\.\d+', text))
    for _ in range(10): deep(300)
PY

# compare PROGRAM COMMAND...: the counts of the processes of that name, added up
compare() {
  local program=$1 tries
  shift
  # libunwind takes the loader's lock in the handler, so a run may hang: then once more.
  for tries in 1 2 3; do
    rm -f counts
    ORACLE_OUT=$work/counts ORACLE_PROGRAM=$program LD_PRELOAD=$programs/oracle_preload timeout 30 "$@" >/dev/null 2>err && break
  done
  [ -s counts ] || fail "no counts of $program"
  grep "\"program\": \"$program\"" counts | tr -d '",:{}[]' | awk -v program="$program" '
    { for (i = 1; i < NF; i++) sum[$i] += $(i + 1) }
    END {
      good = sum["equal"] + sum["ours_better"]
      printf "%s: %d of %d stacks agree, %d whole\n", program, good, sum["ticks"], sum["whole"]
      exit !(sum["ticks"] >= 50 && good >= 0.999 * sum["ticks"] - 1)
    }' >out || fail "$(cat out)$(grep -A2 '^# [a-z]' counts | head -9)"
}

compare cc1plus g++ -std=c++20 -O2 -c heavy.cc -o heavy.o
compare python3 python3 work.py
