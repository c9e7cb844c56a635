#!/bin/bash
# SPDX-License-Identifier: MIT
# A minute of the storm at 4 ms: eight threads, on as many processors as there are.
# alone
CPU_MS=$((7500 * $(nproc))) LIMIT=600 exec bash "$(dirname "$0")/../e2e/56_storm.sh"
