#!/bin/bash
# SPDX-License-Identifier: MIT
# Long forms of the differential tests: 20,000 threads, and 16,000 loads of libraries, beside the storm.
set -u
tests=$(dirname "$0")/../e2e
THREADS=${THREADS:-20000} bash "$tests/32_thread_results.sh" || exit 1
ROUNDS=${ROUNDS:-4000} LIMIT=1500 exec bash "$tests/33_loader_storm.sh"
