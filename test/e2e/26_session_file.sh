#!/bin/bash
# SPDX-License-Identifier: MIT
# What the session file says about the run.
. "$(dirname "$0")/common.inc"

record -q -o p --interval 5ms --stack-depth 77 sh -c 'exit 3' "two words" "it's"
# value KEY [PROFILE]: key and value, as FORMAT.md has them: NUL-terminated, after a record header.
value() { python3 - "$1" "${2:-p}/session" <<'P'
import sys
data = open(sys.argv[2], "rb").read()
key = b"\0" + sys.argv[1].encode() + b"\0"
at = data.index(key) + len(key)
print(data[at:data.index(b"\0", at)].decode())
P
}
expect_eq command "$(value command)" "sh -c 'exit 3' 'two words' 'it'\\''s'"
expect_eq directory "$(value directory)" "$work"
expect_eq interval "$(value interval_ns)" 5000000
expect_eq depth "$(value stack_depth)" 77
expect_eq host "$(value host)" "$(uname -n)"
expect_eq kernel "$(value kernel)" "$(uname -r)"
expect_eq processors "$(value processors)" "$(getconf _NPROCESSORS_ONLN)"
expect_eq "wait status" "$(value exit_status)" 768
expect_eq finished "$(value finished)" 1
[ "$(value elapsed_ns)" -gt 100000 ] && [ "$(value elapsed_ns)" -lt 60000000000 ] || fail "elapsed: $(value elapsed_ns)"
processor=$(first_processor)
taskset -c "$processor" "$VARVE" record -q -o one true
expect_eq affinity "$(value affinity one)" "$processor"
# All file headers of a run carry the same session id.
ids=$(for file in p/session p/*.agent; do head -c 32 "$file" | tail -c 16 | xxd -p 2>/dev/null || od -An -tx1 -j16 -N16 "$file"; done | sort -u | wc -l)
expect_eq "different session ids" "$ids" 1

# A profile that has lost it says so, keeps the names that were looked up, and knows the processors that threads were seen on.
rm p/session
report summary p
expect_eq "exit code without a session file" $code 0
expect_match out '^When +on .*, at least [0-9]+ processors?$'
expect_no_match out 'looked up anew'
report quality p
expect_match out '^(Damaged: )?session: is missing'
expect_no_match out 'looked up anew'
