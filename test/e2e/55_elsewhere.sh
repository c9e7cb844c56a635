#!/bin/bash
# SPDX-License-Identifier: MIT
# D-49: a profile read where the binaries are not prints the same reports, byte for byte.
. "$(dirname "$0")/agent.inc"

cp $programs/shapes $programs/in_flight .
record -q -o first sh -c './shapes 100; ./in_flight 100'
views="summary hotspots top-down bottom-up threads processes modules lines quality"
for view in $views; do
  for format in text csv json; do "$VARVE" report $view --format $format first >first.$view.$format 2>&1 || fail "report $view"; done
done
mkdir elsewhere
mv first elsewhere/first
rm shapes in_flight
cd elsewhere
for view in $views; do
  for format in text csv json; do
    "$VARVE" report $view --format $format first >again 2>&1
    cmp again ../first.$view.$format || fail "$view as $format differs: $(diff again ../first.$view.$format | head -5)"
  done
done
expect_match ../first.hotspots.csv '^leaf|^recursion'
expect_match ../first.lines.csv 'shapes\.c,[0-9]+,'
