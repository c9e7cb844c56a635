#!/bin/bash
# SPDX-License-Identifier: MIT
# The differential tests twenty times over (TIMES), at 1 ms, beside another script.
set -u
tests=$(dirname "$0")/../e2e
for ((i = 0; i < ${TIMES:-20}; ++i)); do
  for name in 30_lock_results 31_process_results 32_thread_results 34_debuggers 36_left_handlers; do
    bash "$tests/$name.sh" || exit 1
  done
done
