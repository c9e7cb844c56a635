#!/bin/bash
# SPDX-License-Identifier: MIT
# What varve report does not understand is one sentence and exit code 2; what it cannot read, one sentence and 1.
. "$(dirname "$0")/common.inc"

# refused CODE SENTENCE ARGUMENTS...
refused() {
  local wanted=$1 sentence=$2
  shift 2
  report "$@"
  expect_eq "exit code of report $*" $code "$wanted"
  expect_eq "output of report $*" "$(wc -c <out)" 0
  expect_one_line err
  expect_match err "^varve report: $sentence"
}
mkdir empty
refused 2 "unknown option '--formt', did you mean '--format'\?" --formt csv
refused 2 "--format cvs is not one of text, csv, json; did you mean 'csv'\?" --format cvs
refused 2 "'hotspot' is neither a view nor a profile: .*; did you mean 'hotspots'\?" hotspot
refused 2 "'empty' is no view: " empty x
refused 2 "--thread \( is not a regular expression" --thread '('
refused 2 "--function \[ is not a regular expression" hotspots --function '['
refused 2 "--time 5-2 ends before it begins" --time 5-2
refused 2 "--time soon is not a range" --time soon
refused 2 "--min-share 101 is not a percentage" --min-share 101
refused 2 "--limit many is not a whole number" --limit many
refused 2 "--color green is not one of auto, always, never" --color green
refused 2 "option '--limit' needs a value: N" hotspots --limit
refused 2 "callers needs a FUNCTION" callers
refused 2 "callers: FUNCTION is empty" callers ''
for filter in thread process module function; do refused 2 "--$filter is empty" --$filter ''; done
refused 2 "unexpected argument 'd'" hotspots b d
refused 2 "--by thread is not for timeline; it takes object" timeline --by thread
refused 2 "--by callpath is not for critical-path; it takes function, thread, object" critical-path --by callpath
refused 2 "--by is not for hotspots" hotspots --by thread
refused 1 ".*empty" hotspots empty
refused 1 ".*nowhere" hotspots nowhere
refused 1 ".*" # no profile here
refused 1 ".*file" hotspots "$root/Makefile"
run "$VARVE" repot
expect_eq "exit code" $code 2
expect_match err "^varve: 'repot' is no command: .*did you mean 'report'"
run "$VARVE" --version
expect_match out '^varve [0-9]+\.[0-9]+\.[0-9]+$'

# A function that does not occur: the nearest name, and what is wrong with the expression.
record -q -o demo "$BUILD/varve-demo"
expect_eq "exit code" $code 0
refused 1 "no function 'longest_mach' occurs in this profile; did you mean 'longest_match'\?" callers longest_mach demo
refused 1 "'longest_match\(' names no function in this profile, and is not a regular expression: .*; did you mean" \
  callers 'longest_match(' demo
refused 1 "no function 'zzzzzz' occurs in this profile; 'varve report hotspots' lists them" callers zzzzzz demo


# Of FUNCTION and PROFILE the one that is missing is named.
cd empty
refused 2 "there is no profile here to look for a function 'p1' in; a PROFILE is missing: varve report callers p1 PROFILE" \
  callers p1
cd ..
refused 2 "'demo' is a profile; a FUNCTION is missing: varve report callers FUNCTION demo" callers demo
run "$VARVE" annotate demo
expect_eq "exit code" $code 2
expect_match err "^varve annotate: 'demo' is a profile; a FUNCTION is missing: varve annotate FUNCTION demo"

# What cannot be written is said, and is no success.
full() {
  "$@" >/dev/full 2>err
  code=$?
  expect_eq "exit code of $* on a full disk" $code 1
  expect_one_line err
  expect_match err 'cannot write to the standard output: No space left on device'
}
full "$VARVE" report demo
full "$VARVE" report hotspots --format csv demo
full "$VARVE" --help
full "$VARVE" --version
full "$VARVE" help record
full "$VARVE" report --help
full "$VARVE" check ls

# What cannot be read is said, also where the format has no place for it, and is in no band.
cp -r demo cut
largest=$(ls -S cut/*.agent | head -1)
# Between two chunks, where only the length that the recorder noted says that there was another.
python3 - "$largest" <<'P' || fail "$largest has no chunks of samples"
import os, struct, sys
data, at, chunks = open(sys.argv[1], "rb").read(), 64, []
while at + 64 <= len(data):
    kind, _, _, capacity = struct.unpack_from("<4sHHI", data, at)
    if kind == b"SAMP": chunks.append(at)
    at += capacity
os.truncate(sys.argv[1], chunks[-1])
P
report quality cut
expect_match out "^Damaged: ${largest#cut/}: is cut off: [0-9]+ of [0-9]+ bytes are there\\.$"
expect_eq damages "$(grep -c ^Damaged out)" 1
run "$VARVE" report hotspots --format csv cut
expect_eq "exit code" $code 0
expect_one_line err
expect_match err '^varve report: what could not be read is missing: varve report quality names [0-9]+ damages?$'
report cut
expect_match out 'Samples .* lost, and [0-9.]+ s of CPU time without one that can be read'
"$VARVE" report hotspots --format json cut >hotspots.json || fail "report hotspots"
python3 - <<'P' || fail "lost samples: $(cat hotspots.json)"
import json
row = next(row for row in json.load(open("hotspots.json"))["hotspots"] if row["function"] == "[lost samples]")
assert row["self_ns"] > 0 and sum(row[band + "_ns"] for band in ("poor", "ok", "ideal", "over")) == 0
P

# The command to type next can be typed.
mv demo "it's demo"
report "it's demo"
expect_match out "varve report [a-z-]+ 'it'.''s demo'"
run env VARVE="$VARVE" bash -c "$(sed -n 's/^  varve report/"$VARVE" report/p' out | head -1)"
expect_eq "exit code of the next command" $code 0
expect_match out demo::

# A crash of varve's own says where, and what it may come from; a SIGABRT that a watchdog sends is no crash.
# killed SIGNAL [LIMIT]: varve, by that, under a ulimit; what it says is in err.
# What it reads ends with this script.
mkfifo silence && exec 9<>silence
killed() {
  bash -c 'ulimit $0; exec "$@"' "${2:--v unlimited}" "$VARVE" help --man /dev/stdin <silence 2>err 9>&- &
  local reader=$!
  # Opened anew, by the name that it is given, besides its standard input: its handlers are there.
  reads() { [ "$(cat /proc/$reader/comm 2>/dev/null)" = varve ] && [ "$(readlink /proc/$reader/fd/* | grep -c '/silence$')" -gt 1 ]; }
  wait_for reads
  kill -"$1" $reader
  wait $reader
}
killed SEGV
expect_eq "exit code after SIGSEGV" $? 139
expect_match err '^varve: internal error: Segmentation fault; this is a bug in varve'
expect_match err '^ ?[0-9]+# .*main'
killed SEGV '-s 512'
expect_match err '^varve: internal error: Segmentation fault; the stack may be too small .*; if it is not that, this is a bug in varve'
if sanitized; then
  echo "SKIPPED: a crash for want of memory: varve is built with AddressSanitizer"
else
  killed SEGV '-v 900000'
  expect_match err '^varve: internal error: Segmentation fault; there may be too little memory \(ulimit -v\); if it is not'
fi
killed ABRT
expect_eq "exit code after SIGABRT" $? 134
expect_eq "what was said of it" "$(grep -c varve: err)" 0
