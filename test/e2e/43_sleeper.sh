#!/bin/bash
# SPDX-License-Identifier: MIT
# D-5: who sleeps is not sampled.
. "$(dirname "$0")/agent.inc"

profile sleeper $programs/sleeper 800
# Of its 80 slices; what its start takes on a slow machine has its ticks as all work has.
holds "a sleeper's samples" "$(summary samples sleeper) <= 4 + $(summary cpu_ns sleeper) / ($interval_ms * 1e6)"
ledger sleeper
holds "the report of a sleeper names no more time than it used" "$(summary sampled_ns sleeper) <= $(summary cpu_ns sleeper)"
