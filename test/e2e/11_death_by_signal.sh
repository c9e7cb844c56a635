#!/bin/bash
# SPDX-License-Identifier: MIT
# A command that a signal kills: who started it sees the same death, and there is a profile.
. "$(dirname "$0")/common.inc"

# The wait status as a parent sees it, which a shell's 128 + n hides.
status_of() {
  python3 - "$@" <<'P'
import subprocess, sys
print(subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL).returncode)
P
}
for signal in SEGV ABRT KILL TERM INT PIPE USR1 BUS QUIT; do
  bare=$(status_of sh -c "kill -$signal \$\$")
  ours=$(status_of "$VARVE" record -q -o "p$signal" sh -c "kill -$signal \$\$")
  expect_eq "status after SIG$signal" "$ours" "$bare"
  [ -s "p$signal/session" ] || fail "no profile after SIG$signal"
done
build crash <<'C'
int main(void) { volatile int* p = 0; return *p; }
C
expect_eq "status of a crash" "$(status_of "$VARVE" record -q -o pcrash ./crash)" -11
