#!/bin/bash
# SPDX-License-Identifier: MIT
# D-19, and rows 17, 19, 24 and 27 of the hazards: every call that starts a process, also where it fails, answers as in the bare
# run, and the new program finds the same descriptors, mask, dispositions, folder, environment and number of threads.
. "$(dirname "$0")/guest.inc"

record_options=(--interval 2ms)
same processes $programs/process_results
holds "lines that were compared" "$(wc -l <out) > 250"
# Children by fork, _Fork and clone have no agent where the C library's handlers do not run; all others are recorded.
holds "images that were recorded" "$(agent_files processes) >= 80"
holds "ticks meanwhile" "$(summary samples processes) >= 20"
record_options=(--no-follow --waits off)
same_as_bare alone $programs/process_results
expect_eq "images without following" "$(agent_files alone)" 1
