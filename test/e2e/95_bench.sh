#!/bin/bash
# SPDX-License-Identifier: MIT
# What make bench computes from what it measures, on numbers whose answer is known. It measures nothing.
. "$(dirname "$0")/common.inc"

PYTHONDONTWRITEBYTECODE=1 python3 "$root/test/bench/bench_test.py" >out 2>err || fail "$(tail -40 err)"
expect_match err '^Ran [1-9][0-9]+ tests'
