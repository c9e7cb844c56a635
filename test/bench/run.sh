#!/bin/bash
# SPDX-License-Identifier: MIT
# make bench: varve beside perf, gperftools and gprofng; the tables go to test/bench/RESULTS.md. What was measured is kept in
# BUILD/bench/results.jsonl, so an interrupted run goes on, and only what is missing is measured; NEW=1 forgets it.
#   RUNS      rounds of alternating runs (default 6, with which an interval of 95 % begins; more make it narrower)
#   WHAT      sections: compare beside print (default), observer start report view (varve alone, printed), render (only the tables)
#   PROGRAMS, TOOLS, RATES   parts of names, and milliseconds, with commas between: PROGRAMS=redis,node TOOLS=varve RATES=10
set -eu
cd "$(dirname "$0")/../.."
export BUILD=$(realpath "${BUILD:-build/release}")
export LC_ALL=C.UTF-8
export PYTHONHASHSEED=0  # each start of python3 would order its tables otherwise, which is 10 % of its time
unset LD_PRELOAD
results=$BUILD/bench/results.jsonl
mkdir -p "$BUILD/bench"
[ -z "${NEW:-}" ] || rm -f "$results"
work=$(mktemp -d "${TMPDIR:-/tmp}/varve-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
PYTHONDONTWRITEBYTECODE=1 python3 test/bench/bench.py --build "$BUILD" --work "$work" --results "$results" --page test/bench/RESULTS.md \
  --runs "${RUNS:-6}" --programs "${PROGRAMS:-}" --tools "${TOOLS:-}" --rates "${RATES:-}" ${WHAT:-compare beside print}
