#!/bin/bash
# SPDX-License-Identifier: MIT
# The long forms of end-to-end tests: 20,000 short threads, 100 kills, a minute of the storm. LONG_LIMIT is the watchdog.
# alone
set -eu
here=$(cd "$(dirname "$0")/../e2e" && pwd)
THREADS=20000 bash "$here/44_short_threads.sh"
RUNS=100 bash "$here/53_killed.sh"
CPU_MS=$((7500 * $(nproc))) LIMIT=600 bash "$here/56_storm.sh"
CPU_MS=2000 INTERVAL_MS=1 LIMIT=300 bash "$here/56_storm.sh"
