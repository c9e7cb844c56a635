#!/bin/bash
# SPDX-License-Identifier: MIT
# D-29: the agent of `make VARIANT=faults`, whose n-th system call of a kind fails, for some n of each kind (stress/76_faults: for each
# n): the target is unharmed, the profile opens, its sums hold, and what is missing has a reason.
. "$(dirname "$0")/agent.inc"

faulty=$root/build/faults/libvarve.so
[ -f "$faulty" ] || { echo "SKIPPED: faults; make VARIANT=faults BUILD=build/faults build/faults/libvarve.so has not been run"; exit 0; }
cp "$VARVE" varve && cp "$faulty" libvarve.so || fail "cannot copy"  # the recorder takes the agent beside it
grep -q VARVE_FAULT libvarve.so || fail "that agent makes no faults"
! grep -q VARVE_FAULT "$BUILD/libvarve.so" || fail "the agent that is installed has the faults of the tests"

faults() { python3 "$root/test/e2e/faults.py" "$1" "$2" ./varve "$programs/fault_target" >told 2>&1 || fail "$(cat told)"; tail -1 told; }
for kind in open mmap mprotect munmap fallocate prlimit64 timer_create timer_settime sigaction sigaltstack clock_gettime prctl \
  getrusage readlink getcwd uname fstat lseek; do
  faults $kind fib
done
for kind in open mmap fallocate timer_create clock_gettime; do faults $kind fib+; done
