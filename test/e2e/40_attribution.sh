#!/bin/bash
# SPDX-License-Identifier: MIT
# D-1, D-12: shares of two functions are those that the program measured, within three standard errors and one tick.
# alone
. "$(dirname "$0")/agent.inc"

split() {
  profile split $programs/split $((1000 * $1))
  heavy=$(truth heavy) light=$(truth light)
  rows hotspots split '(own("heavy"), own("light"), sum(n(r, "samples") for r in rows), sum(n(r, "self_ns") for r in rows))' >found
  python3 - $heavy $light $interval_ms <<'P' || fail "split: $(cat found), the program measured $heavy and $light"
import ast, math, sys
heavy, light, interval = (float(a) for a in sys.argv[1:])
found = ast.literal_eval(open("found").read())
for truth, measured in ((heavy, found[0]), (light, found[1])):
    p = truth / (heavy + light)
    bound = 3 * math.sqrt(p * (1 - p) / found[2]) + interval * 1e6 / found[3]
    if abs(measured / (found[0] + found[1]) - p) > bound or measured == 0: sys.exit(1)
P
}
more_work split
nothing_of_ours split
ledger split
