#!/bin/bash
# SPDX-License-Identifier: MIT
# The storm at 1 ms for ten minutes of a processor: eight threads that leave the processors to other scripts, so that they are late for
# everything.
# long
CPU_MS=75000 INTERVAL_MS=1 LIMIT=1700 exec nice -n 10 bash "$(dirname "$0")/../e2e/56_storm.sh"
