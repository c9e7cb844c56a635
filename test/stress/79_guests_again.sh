#!/bin/bash
# SPDX-License-Identifier: MIT
# The differential tests four times over (TIMES), at 1 ms, beside another script, in their long forms.
set -u
export LONG=yes
tests=$(dirname "$0")/../e2e
for ((i = 0; i < ${TIMES:-4}; ++i)); do
  for name in 30_lock_results 31_process_results 32_thread_results 34_debuggers 36_left_handlers 66_handler_stacks 66_odd_signals; do
    bash "$tests/$name.sh" || exit 1
  done
done
