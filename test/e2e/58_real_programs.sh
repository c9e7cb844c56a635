#!/bin/bash
# SPDX-License-Identifier: MIT
# D-32: programs of the system print the same bytes and codes as without us; the ledger holds and the stacks are whole.
. "$(dirname "$0")/agent.inc"

python3 -c 'import random; random.seed(1); print("\n".join(str(random.getrandbits(40)) + " lorem ipsum" for _ in range(120000)))' >data
# real NAME PROGRAM ARGUMENTS...: skipped where the program is not installed
real() {
  local name=$1 expected
  shift
  command -v "$1" >/dev/null || { echo "SKIPPED: $1 is not installed"; return; }
  "$@" >bare 2>bare.err <data
  bare_code=$?
  run "$VARVE" record -q -o $name -- "$@" <data
  expect_eq "exit code of $name" $code $bare_code
  cmp -s out bare || fail "output of $name differs from the bare run's"
  cmp -s err bare.err || fail "errors of $name differ from the bare run's$(show)"
  ledger $name
  # How long a program takes is the machine's affair; a tick each 10 ms is ours (12 where the kernel ticks at 250 Hz).
  holds "samples of $name" "$(summary samples $name) >= 3"
  holds "samples of $name for its time" "$(summary samples $name) * 20e6 >= $(summary sampled_ns $name)"
  # A short program may have a tick in the start files' code, which has no unwind information.
  expected="min(0.99, 1 - 1.01 / $(summary samples $name))"
  holds "whole stacks of $name, of $("$VARVE" report quality $name | sed -n '/not whole/,/^$/p')" \
    "$(summary whole_stack_share $name) >= $expected"
  nothing_of_ours $name
}
real python /usr/bin/python3 -c 'import sys; print(sum(hash(int(l.split()[0]) ** 2) % 7 for l in sys.stdin for _ in range(3))); sys.exit(3)'
report quality python
expect_match out 'Functions of Python are not shown: the time in and below them stands below _PyEval_EvalFrameDefault'
real xz xz -T2 -3 -c --block-size=1MiB
real gzip gzip -9 -n -c
real openssl openssl enc -aes-256-cbc -pbkdf2 -iter 300000 -pass pass:varve -S 0011223344556677
real sqlite sqlite3 :memory: 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 700000) SELECT sum(i % 7), count(DISTINCT i % 1009) FROM n;'
real sort sort data data data data data
real bash bash -c 'for ((i = 0; i < 60000; ++i)); do x=$((i * 3)); done; echo $x $(echo sub) | tr a-z A-Z'
