#!/bin/bash
# SPDX-License-Identifier: MIT
# make bench: what varve costs and how fast it reads, as ratios and shares within this one run. RUNS sets the number of
# alternating pairs (default 7), WHAT the sections (handler cost observer start report view).
set -eu
cd "$(dirname "$0")/../.."
export BUILD=$(realpath "${BUILD:-build/release}")
export LC_ALL=C.UTF-8
work=$(mktemp -d "${TMPDIR:-/tmp}/varve-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
python3 test/bench/bench.py --build "$BUILD" --work "$work" --runs "${RUNS:-7}" ${WHAT:-handler cost observer start report view}
