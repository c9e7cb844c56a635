#!/bin/bash
# SPDX-License-Identifier: MIT
# e2e/59_faults for every n: each system call of the agent fails once, and each from the n-th on of the kinds that fail for good.
# long
. "$(dirname "$0")/../e2e/agent.inc"

cp "$VARVE" varve && cp "$root/build/faults/libvarve.so" . || fail "cannot copy"
faults() { python3 "$root/test/e2e/faults.py" "$1" "$2" ./varve "$programs/fault_target" >told 2>&1 || fail "$(cat told)"; tail -1 told; }
STEP=1 BUILD=$BUILD bash "$root/test/e2e/59_recorder_faults.sh" || exit 1
faults any all
for kind in open mmap munmap fallocate fallocate_unknown timer_create timer_settime clock_gettime any; do faults $kind all+; done
