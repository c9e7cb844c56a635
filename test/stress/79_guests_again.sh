#!/bin/bash
# SPDX-License-Identifier: MIT
# The differential tests twice (TIMES), beside another script, with all the options that LONG=yes gives some of them; and 91_view_tmux,
# once, with two ends for each terminal.
set -u
export LONG=yes
tests=$(dirname "$0")/../e2e
for ((i = 0; i < ${TIMES:-2}; ++i)); do
  for name in 42_perf_guests 30_lock_results 31_process_results 32_thread_results 34_debuggers 36_left_handlers 50_own_profiler 62_java_stacks 66_handler_stacks 66_odd_signals; do
    bash "$tests/$name.sh" || exit 1
  done
done
exec bash "$tests/91_view_tmux.sh"
