#!/bin/bash
# SPDX-License-Identifier: MIT
# The differential tests four times over (TIMES), beside another script; 66_handler_stacks and 66_odd_signals with all their options
# and 91_view_tmux, once, with two ends for each terminal.
set -u
export LONG=yes
tests=$(dirname "$0")/../e2e
for ((i = 0; i < ${TIMES:-4}; ++i)); do
  for name in 30_lock_results 31_process_results 32_thread_results 34_debuggers 36_left_handlers 66_handler_stacks 66_odd_signals; do
    bash "$tests/$name.sh" || exit 1
  done
done
exec bash "$tests/91_view_tmux.sh"
