#!/bin/bash
# SPDX-License-Identifier: MIT
# Ten minutes of the storm at 1 ms: eight threads, on as many processors as there are.
# alone
CPU_MS=$((75000 * $(nproc))) INTERVAL_MS=1 LIMIT=1700 exec bash "$(dirname "$0")/../e2e/56_storm.sh"
