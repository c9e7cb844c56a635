#!/bin/bash
# SPDX-License-Identifier: MIT
# make accuracy: varve and its peers on programs that know the truth, as a table in test/accuracy/RESULTS.md. LENGTH:
# a multiple of the usual length of the runs (default 1: about half an hour).
set -eu
build=$(realpath "${BUILD:-build/release}")
cd "$(dirname "$0")"
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
cat > RESULTS.new <<'TEXT'
# Accuracy beside other profilers

`make accuracy` made this page. Each program measures by its threads' own CPU clocks what its functions cost; a cell is the largest
error of a function's share, in points (hundredths of the time) and in standard errors of n random samples, as many as were taken.
Below three is what chance does; few samples can say nothing. The programs keep frame pointers, so that every profiler has whole stacks.

TEXT
python3 accuracy.py --build "$build" --program "$build/accuracy/truth" --length "${LENGTH:-1}" | tee -a RESULTS.new
cat >> RESULTS.new <<'TEXT'

- A program that works in step with the clock is hidden from whatever looks at scheduler ticks, as timers of CPU clocks do: varve with
  `--timer cpu`, gperftools and gprofng. Events of perf have a timer of their own, and so no such bias. By default (`auto`) varve gives
  them, where they are allowed, to threads that wait often, and below the kernel's tick to all that have used 4 ms of CPU time.
- gprofng of Debian takes a sample each 100 ms of the main thread and none of others.
TEXT
mv RESULTS.new RESULTS.md
