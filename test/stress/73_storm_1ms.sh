#!/bin/bash
# SPDX-License-Identifier: MIT
# Ten minutes of the storm at 1 ms, beside another script, so that its threads are late for everything: eight threads that work for
# seven minutes of each processor.
# long
CPU_MS=$((52500 * $(nproc))) INTERVAL_MS=1 LIMIT=1700 exec bash "$(dirname "$0")/../e2e/56_storm.sh"
