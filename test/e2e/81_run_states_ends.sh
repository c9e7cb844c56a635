#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads and processes that come and go leave nothing in the recorder, and are all seen where it may open few files.
. "$(dirname "$0")/run_states.inc"
sanitized && echo "SKIPPED: an observer that is built with AddressSanitizer is late for what is looked at here" && exit 0

# Nothing leaks: the recorder of threads and processes that come and go has no more descriptors in the end than with one, as soon as
# a sweep has seen that they are gone.
descriptors() { find /proc/$recorder/fd -mindepth 1 2>/dev/null | wc -l; }
descriptors_at_most() { [ "$(descriptors)" -le $1 ]; }
come_and_go() {
  "$VARVE" record -q --no-finalize -o c --run-states $1 sh -c \
    "sleep 1; '$program' threads 300 800; '$program' processes 100 800; touch ready; while [ -e ready ]; do sleep 0.1; done" >out 2>err &
  recorder=$!
  wait_for test -e c/observer
  before=$(descriptors)
  wait_for test -e ready
  wait_for descriptors_at_most $((before + 8))
  rm ready
  wait $recorder || fail "recording of threads that come and go"
  is_true c "len(tracks) > 300"
}
at_once come_and_go $sources

# Few descriptors: what cannot be kept open is opened again and again.
run bash -c 'ulimit -n 320; exec "$@"' - "$VARVE" record -q --no-finalize -o few --run-states sweeps "$program" threads 200 2500
expect_eq "exit code with few descriptors" $code 0
is_true few "len(tracks) == 201 and all(x['end'] for x in tracks)"
is_true few "abs(sum(x['running'] for x in tracks) - $(truth cpu_ns)) < 0.1 * $(truth cpu_ns) + 50e6"
