#!/bin/bash
# SPDX-License-Identifier: MIT
# 20,000 threads that end before their first tick: at least 99 % of their CPU time is accounted for.
# alone
THREADS=20000 exec bash "$(dirname "$0")/../e2e/44_short_threads.sh"
