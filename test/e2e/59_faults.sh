#!/bin/bash
# SPDX-License-Identifier: MIT
# D-29: the agent of `make VARIANT=faults`, whose n-th system call of a kind fails, for some n of some kinds (stress/76_faults: for
# each n, of all kinds), or from the n-th on all of a kind, or of any: the target is unharmed and sees nothing, the profile opens, its
# sums hold, and what is missing has a reason.
# long
. "$(dirname "$0")/agent.inc"

faulty=$root/build/faults/libvarve.so
[ -f "$faulty" ] || { echo "SKIPPED: faults; make VARIANT=faults BUILD=build/faults build/faults/libvarve.so has not been run"; exit 0; }
cp "$VARVE" varve && cp "$faulty" libvarve.so || fail "cannot copy"  # the recorder takes the agent beside it
grep -q VARVE_FAULT libvarve.so || fail "that agent makes no faults"
! grep -q VARVE_FAULT "$BUILD/libvarve.so" || fail "the agent that is installed has the faults of the tests"

faults() { python3 "$root/test/e2e/faults.py" "$1" "$2" ./varve "$programs/fault_target" >told 2>&1 || fail "$(cat told)"; tail -1 told; }
for kind in open mmap mprotect munmap fallocate prlimit64 timer_create timer_settime sigaction sigaltstack clock_gettime prctl \
  perf_event_open; do
  faults $kind few
done
for kind in open mmap fallocate fallocate_unknown timer_create clock_gettime any; do faults $kind few+; done

# Our handler is there, and the kernel takes no other: who is sent SIGPROF ends all the same.
for n in 1 2 3; do
  VARVE_FAULT=sigaction:$n+ run timeout 20 ./varve record -q -o killed.$n sh -c 'kill -PROF $$; sleep 1; echo alive'
  expect_no_match out alive
  [ $code = $((128 + 27)) ] || [ $code = $((128 + 9)) ] || fail "it ended with $code"
done
