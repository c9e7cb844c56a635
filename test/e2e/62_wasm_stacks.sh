#!/bin/bash
# SPDX-License-Identifier: MIT
# Stacks through WebAssembly in node are whole: on processors that have protection keys V8 gives its code one, and a signal handler may
# not read what has a key.
. "$(dirname "$0")/agent.inc"

command -v node >/dev/null || { echo "SKIPPED: node is not installed"; exit 0; }
# f(n): a loop of n turns that adds them up.
cat >loop.js <<'J'
const code = Buffer.from([
  0, 97, 115, 109, 1, 0, 0, 0,                    // magic, version
  1, 6, 1, 96, 1, 127, 1, 127,                    // a type: of i32 to i32
  3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0,              // a function of it, exported as f
  10, 27, 1, 25, 1, 1, 127,                       // its code, with another i32
  3, 64, 32, 1, 32, 0, 106, 33, 1,                // loop: sum += n
  32, 0, 65, 1, 107, 34, 0, 13, 0, 11, 32, 1, 11  // again if --n; return sum
]);
const {exports} = new WebAssembly.Instance(new WebAssembly.Module(code));
const end = Date.now() + 800;
let sum = 0;
while (Date.now() < end) sum += exports.f(3000000);
console.log(sum !== 0);
J
record -q --interval 4ms -o loop.p node loop.js
expect_eq "exit code" $code 0
expect_eq "output" "$(cat out)" true
holds "samples" "$(summary samples loop.p) >= 50"
rows modules loop.p "sum(n(r, 'self_ns') for r in rows if r['module'] == '[anonymous]')" >made
holds "time in code that V8 made" "$(cat made) > 0.3 * $(summary cpu_ns loop.p)"
holds "whole stacks: $(summary whole_stack_share loop.p)" "$(summary whole_stack_share loop.p) >= 0.95"
