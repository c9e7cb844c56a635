#!/bin/bash
# SPDX-License-Identifier: MIT
# The short form of make accuracy: shares of functions are those that the program measured of itself.
# alone
. "$(dirname "$0")/agent.inc"
export VARVE

gcc -O2 -g -fno-omit-frame-pointer -I"$root" "$root/test/accuracy/truth.c" -o truth -lpthread || fail "truth.c"
PYTHONDONTWRITEBYTECODE=1 python3 "$root/test/accuracy/accuracy.py" --build "$BUILD" --program ./truth --check >out 2>err ||
  fail "$(cat err)"
grep SKIPPED out && cases=5 || cases=15
expect_eq "cases" "$(grep -c 's\.e\.' out)" $cases

# CPU timers miss what works in step with the kernel's tick, or see it far too often: then varve says so.
# Two at a time: each is one thread.
in_step() { "$VARVE" record --timer cpu -o step$1 ./truth in-phase 2000 $1 >out.$1 2>err.$1; }
in_step 4000 &
in_step 20000
code=$?
wait $! && [ $code = 0 ] || fail "in step: $(cat err.4000 err.20000)"
for period in 4000 20000; do
  python3 - $period <<'P' >stepped || fail "in step with $period us: $(cat stepped)"
import json, subprocess, sys
summary = json.loads(subprocess.run(["sh", "-c", f'"$VARVE" report summary --format json step{sys.argv[1]}'], capture_output=True, text=True).stdout)
due, came = summary["cpu_ns"] / summary["interval_ns"], summary["ticks"] + summary["overruns"]
said = "record with --timer perf" in open(f"err.{sys.argv[1]}").read()
print(f"{came} of {due:.0f} ticks, {said = }")
# Well beyond and well below what the sentence asks for: in between either is right.
off = abs(came - due)
sys.exit(not said if off > max(0.4 * due, 8 * due ** 0.5) else said if off < min(0.2 * due, 3 * due ** 0.5) else 0)
P
done
