#!/bin/bash
# SPDX-License-Identifier: MIT
# The storm at 1 ms.
# alone
CPU_MS=2000 INTERVAL_MS=1 LIMIT=300 exec bash "$(dirname "$0")/../e2e/56_storm.sh"
