#!/bin/bash
# SPDX-License-Identifier: MIT
# The n-th call of varve record to the C library fails: opening, writing, mapping, forking, starting a thread. Some of each here, all
# of them in stress/76_faults: the target is not begun, for a reason in one sentence, or it does what it does bare.
. "$(dirname "$0")/common.inc"

gcc -shared -fPIC -O1 -w "$root/test/faults/refuse_recorder.c" -o refuse.so -ldl || fail "cannot compile the faults"
faults() { python3 "$root/test/e2e/recorder_faults.py" "$VARVE" "$work/refuse.so" "$@" >told 2>&1 || fail "$(cat told)"; tail -1 told; }
faults "$programs/fault_target" "${STEP:-37}"
