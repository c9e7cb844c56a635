#!/bin/bash
# SPDX-License-Identifier: MIT
# Long forms of the differential tests: 20,000 threads, 80,000 loads of libraries, and everything else twenty times over, all at 1 ms,
# beside the storm. ROUNDS and TIMES make it shorter.
set -u
tests=$(dirname "$0")/../e2e
THREADS=${THREADS:-20000} bash "$tests/32_thread_results.sh" || exit 1
ROUNDS=${ROUNDS:-20000} LIMIT=1500 bash "$tests/33_loader_storm.sh" || exit 1
for ((i = 0; i < ${TIMES:-20}; ++i)); do
  for name in 30_lock_results 31_process_results 32_thread_results 34_debuggers 36_left_handlers; do
    bash "$tests/$name.sh" || exit 1
  done
done
