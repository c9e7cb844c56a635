#!/bin/bash
# SPDX-License-Identifier: MIT
# Pipes by the C library's streams, where no hook sees who writes: of several writers it is the one that ran; the critical path goes to
# it, also from waits that were only added up; and what is read so has its name.
# calm
. "$(dirname "$0")/agent.inc"
sanitized && echo "SKIPPED: an observer that is built with AddressSanitizer is late for what is looked at here" && exit 0

# Each writes every 300 ms, 100 ms after the one before.
build writer <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int count, char** words) {
  usleep(count > 1 ? (unsigned)atoi(words[1]) * 1000u : 0);
  for (int i = 0; i < 4; ++i) {
    usleep(300000);
    puts("a line");
    fflush(stdout);
  }
  return 0;
}
C
build reader <<'C'
#include <stdio.h>
int main(int count, char** words) {
  char line[100];
  int lines = 0;
  FILE* from = count > 1 ? fopen(words[1], "r") : stdin;
  while (fgets(line, sizeof line, from)) ++lines;
  printf("%d\n", lines);
  return 0;
}
C

several_writers() {
  rm -rf pipes
  record -q -o pipes --run-states $source sh -c '(./writer 0 & ./writer 100 & ./writer 200 & wait) | ./reader'
  expect_eq "exit code" $code 0
  expect_eq "lines" "$(cat out)" 12
  # Of 1.5 s of waits each writer ended a third; the reader begins by waiting for the first, however late that starts.
  "$VARVE" report waits --format json --limit 0 pipes >waits.json || fail "report waits"
  python3 - <<'P' || broken "who wrote, by $source: $(cat shares)"
import json, sys
caused = {}
for row in json.load(open("waits.json"))["holders"]:
    if row["object"].startswith("Pipe") and row["thread"].startswith("writer"): caused[row["tid"]] = caused.get(row["tid"], 0) + row["caused_ns"]
print(caused, file=open("shares", "w"))
sys.exit(not (len(caused) == 3 and all(250e6 < ns < 850e6 for ns in caused.values())))
P
  # The run takes as long as writers sleep.
  rows critical-path pipes '[(r["object"], n(r, "blocking_ns")) for r in rows if n(r, "blocking_ns") > 0.7e9]' --by object >blocking
  grep -q "'Sleep'" blocking && ! grep -q Pipe blocking || broken "the path by $source blocks for $(cat blocking)"
}
source=
if can switches --run-states switches; then
  source=switches
  several_writers
fi

# What a stream reads has a name: a FIFO its path, and who writes to it.
mkfifo fifo
(./writer >fifo) &
record -q -o named ./reader fifo
wait $!
rows waits named '[r["object"] for r in rows if r["type"] == "Stream" and n(r, "wait_ns") > 0.5e9]' >objects
expect_eq "what was waited for" "$(cat objects)" "['Stream $PWD/fifo']"

# Many short waits, of which nearly all are only counted: the path is where the work is, and not where data comes from.
in_the_middle() {
  rm -rf middle
  record -q -o middle sh -c "head -c $((10 * $1))M /dev/urandom | gzip -1 | wc -c"
  expect_eq "exit code" $code 0
  rows critical-path middle '{r["name"]: n(r, "path_ns") for r in rows}' --by thread >parts
  python3 -c 'import ast, sys
parts = ast.literal_eval(open("parts").read())
sys.exit(parts["gzip"] < 0.8 * sum(parts.values()))' || broken "the path is in $(cat parts)"
  # Who writes to it has no room, who reads from it nothing.
  rows waits middle '[r["object"].endswith("(full)") for r in rows if r["type"] == "Stream" and r["object"].startswith("Pipe")]' --limit 0 >full
  python3 -c 'import ast; assert set(ast.literal_eval(open("full").read())) == {True, False}' || broken "full pipes: $(cat full)"
}
if [ "$source" = switches ]; then more_work in_the_middle; fi
