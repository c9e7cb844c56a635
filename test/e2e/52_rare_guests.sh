#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that forbid themselves system calls or clocks past seccomp, have alternate stacks hardly larger than a frame of the
# kernel's, leave handlers by jumps that restore no mask, or have children that no hook sees: as bare, and sampled or named.
. "$(dirname "$0")/guest.inc"

# rare NAME KIND: bare and recorded, then the words of the report in said.
rare() {
  same "$1" "$programs/rare_guest" "$1"
  "$VARVE" report quality "$1" >said 2>&1 || fail "report quality of $1: $(cat said)"
}
for kind in dispatch no_counter; do
  rare $kind
  grep -q 'not here' out || expect_match said 'or a mode of prctl\(2\) in which they do'
  holds "time until it forbade that" "$(summary sampled_ns $kind) > 20e6"
done
for kind in tiny_2048 tiny_4096; do
  rare $kind
  expect_eq "what bare says" "$(cat bare)" "spoilt 0"
  holds "samples before and after" "$(summary samples $kind) >= 5"
done
# A frame is as large as the processor's registers make it: where it has no room, and where a tick leaves at once.
frame=$(LD_SHOW_AUXV=1 /bin/true | sed -n 's/^AT_MINSIGSTKSZ: *//p')
if [ "$frame" = 3376 ]; then
  "$VARVE" report quality tiny_2048 >said && expect_match said '[0-9] times? a thread had an alternate signal stack without room for a tick'
  "$VARVE" report quality tiny_4096 >said && expect_match said 'ticks? had too little room on'
  ledger tiny_4096
else
  echo "SKIPPED: what is said of small alternate stacks: frames of signals take $frame bytes here, not 3376"
fi
rare handlers_8192
expect_eq "what bare says" "$(cat bare)" "handled 1, spoilt 0, mask 0"
holds "samples between handlers" "$(summary samples handlers_8192) >= 5"
rare own_signals
expect_eq "what bare says" "$(tail -1 bare)" "traps 2, profiled 1, blocked 0 0"
rare much_on_little
expect_eq "what bare says" "$(cat bare)" "handled 2, traps 1, shown 0, spoilt 0"
rare leaves
expect_eq "what bare says" "$(cat bare)" "left 5, blocked 0 0"
holds "samples afterwards" "$(summary sampled_ns leaves) > 0.7 * $(summary cpu_ns leaves)"
rare leaves_and_handles
expect_eq "what bare says" "$(cat bare)" "traps 4, profiled 1, blocked 0 0"
rare leaves_little
expect_eq "what bare says" "$(cat bare)" "traps 3, blocked 0"
rare traps_without_stack
expect_eq "what bare says" "$(cat bare)" "traps 3, profiled 3, let in 0"
rare unseen_children
expect_eq "what bare says" "$(cat bare)" $'child ended 27\nchild ended 27'
rare waiters
expect_eq "values that bare waited for" "$(grep -cE '^(27|5) code -1 value 4[0-5]$' bare)" 12
record_options=(--interval 200us --timer perf)
rare sent_faults
expect_eq "what bare says" "$(cat bare)" "sent 200000, masks of others 0"
record_options=()
rare interrupts
expect_eq "calls that bare interrupts" "$(grep -c '^read -1, flags [0-9a-f]*4000000$' bare)" 6
