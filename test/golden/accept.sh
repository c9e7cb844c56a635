#!/bin/bash
# SPDX-License-Identifier: MIT
# Writes the golden texts anew from what the views print now. Look at `git diff test/golden` before committing it.
cd "$(dirname "$0")/../.." || exit 1
mkdir -p test/golden/screens
VARVE_ACCEPT=1 "${BUILD:-build/release}/unit-tests" --filter '*_golden/*' --quiet && git diff --stat -- test/golden
