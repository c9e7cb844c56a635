#!/bin/bash
# SPDX-License-Identifier: MIT
# D-5: who sleeps is not sampled.
. "$(dirname "$0")/agent.inc"

profile sleeper $programs/sleeper 800
holds "a sleeper's samples" "$(summary samples sleeper) <= 2"
ledger sleeper
holds "the report of a sleeper names no more time than it used" "$(summary sampled_ns sleeper) <= $(summary cpu_ns sleeper)"
