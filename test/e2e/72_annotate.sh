#!/bin/bash
# SPDX-License-Identifier: MIT
# varve annotate of a recorded program: with its binary and source, without them, stripped, and told nonsense.
. "$(dirname "$0")/common.inc"

cat >spin.c <<'END'
#include <stdlib.h>
static volatile unsigned long sink;
static inline __attribute__((always_inline)) void step(long i) {
  sink += i;
}
__attribute__((noinline)) void burn(long n) {
  for (long i = 0; i < n; ++i) {
    step(i);
    if (i % 4096 == 0) sink ^= rand();
  }
}
int main(void) { burn(400000000); return 0; }
END
gcc -O1 -g -o spin spin.c || fail "cannot compile"
annotate() { run "$VARVE" annotate "$@"; }
# column NAME: that column of the CSV in out, a line each
column() { python3 -c "
import csv, sys
for row in csv.DictReader(open('out')): print(row['$1'])"; }
sum() { column "$1" | python3 -c 'import sys; print(sum(map(int, sys.stdin)))'; }

record ./spin
expect_eq "exit code" $code 0
[ -s spin.varve/code ] || fail "the profile has no code"

hotspots() { "$VARVE" report hotspots --format csv "$@" | python3 -c "
import csv, sys
print(next(row['self_ns'] for row in csv.DictReader(sys.stdin) if row['function'] == 'burn'))"; }
annotate burn --format csv --no-inline
expect_eq "exit code" $code 0
expect_eq "columns" "$(head -1 out)" "file,line,source,self_ns,self_share,samples,poor_ns,ok_ns,ideal_ns,over_ns"
expect_eq "lines add up" "$(sum self_ns)" "$(hotspots --no-inline)"
annotate burn --format csv --asm
expect_eq "columns" "$(head -1 out)" "module,address,bytes,mnemonic,operands,file,line,inlined,block_start,target,self_ns,self_share,samples,poor_ns,ok_ns,ideal_ns,over_ns"
expect_eq "instructions add up" "$(sum self_ns)" "$(hotspots --no-inline)"
column operands >operands
expect_match operands '^rand@plt$'
column bytes >bytes.here
objdump -d --no-show-raw-insn spin | sed -n '/<burn>:/,/^$/p' | grep -c '^ ' >count
expect_eq "instructions, as objdump counts them" "$(wc -l <bytes.here)" "$(cat count)"
annotate burn --asm --syntax intel
expect_match out '(qword|dword) ptr'
annotate burn --format json
python3 -c '
import json
view = json.load(open("out"))
for rows in "lines", "instructions": assert sum(row["self_ns"] for row in view[rows]) == view["total_ns"], rows
assert view["self_ns"] < view["total_ns"]
assert any(row["inlined"] == "step" for row in view["instructions"])' || fail "the JSON is wrong"

# Text: the function, its lines with their source, and instructions.
annotate burn
expect_match out '^Function +burn$'
expect_match out ' step\(i\);|sink \+= i;'
expect_match out '^A sample can be late'
annotate burn --source
expect_no_match out 'Instruction'

# Elsewhere: neither binary nor source, the same code.
mkdir elsewhere && cp -r spin.varve elsewhere && mv spin spin.gone
annotate burn elsewhere/spin.varve --asm --format csv
expect_eq "exit code" $code 0
column bytes >bytes.elsewhere
cmp bytes.here bytes.elsewhere || fail "the code is another without the binary"
column operands >operands
expect_match operands '^rand@plt$'
# On a small screen instructions get the room of lines without their text.
mv spin.c spin.c.gone
run "$VARVE" view elsewhere/spin.varve --size 80x24 --script ':annotate burn<Enter>' --save-screen -
mv spin.c.gone spin.c
expect_eq "exit code" $code 0
expect_match <(sed -n 3p out) '^burn$'
expect_match <(sed -n 4p out) '^not here: .*spin\.c; s shows its lines$'
expect_match <(sed -n 5p out) '^Code of burn '
expect_match <(sed -n 24p out) 'qBack$'
rm elsewhere/spin.varve/code
annotate burn elsewhere/spin.varve
expect_eq "exit code" $code 0
expect_match out 'program file that ran is not here'
expect_no_match out 'Instruction'
mv spin.gone spin
annotate burn elsewhere/spin.varve --asm --format csv
column bytes >bytes.again
cmp bytes.here bytes.again || fail "the code of the file is another than the stored one"
printf 'nonsense' >elsewhere/spin.varve/code
annotate burn elsewhere/spin.varve --asm
expect_match out 'so code is read from the program files'
annotate burn elsewhere/spin.varve --asm --format csv  # text leaves out what is far from any sample
expect_match out 'rand@plt'

# Stripped: a name by address, the same code.
cp spin bare && strip bare && record ./bare
expect_eq "exit code" $code 0
annotate "$("$VARVE" report hotspots bare.varve --format csv | sed -n '2s/,.*//p')" bare.varve --asm --format csv
column bytes >bytes.bare
cmp bytes.here bytes.bare || fail "the code is another in the stripped program"

# The debug file came after the recording: names and lines of the finished profile, once an option says where it is.
cp spin lineless && strip -g lineless && record ./lineless
id=$(readelf -n spin | sed -n 's/.*Build ID: //p')
mkdir -p "dbg/.build-id/${id:0:2}"
objcopy --only-keep-debug spin "dbg/.build-id/${id:0:2}/${id:2}.debug"
for each in bare lineless; do
  report hotspots $each.varve --debug-dir dbg --format csv
  expect_match out '^burn,'
  report lines $each.varve --format csv
  expect_eq "exit code of the lines of $each" $code 0
  expect_no_match out 'spin\.c,[0-9]'
  report lines $each.varve --debug-dir dbg --format csv
  expect_match out 'spin\.c,[0-9]'
  annotate burn $each.varve --debug-dir dbg --asm --format csv
  expect_eq "instructions of lines, in $each" "$(column line | grep -c '[0-9]')" "$(wc -l <bytes.here)"
  expect_no_match <(column inlined) burn
done

# Nonsense.
annotate
expect_eq "exit code" $code 2
annotate burns
expect_eq "exit code" $code 1
expect_match err "^varve annotate: no function 'burns' occurs in this profile"
annotate burn --source-path nonsense
expect_eq "exit code" $code 2
expect_match err 'is not FROM=TO'
annotate burn --syntax greek
expect_eq "exit code" $code 2
annotate '\[startup\]|\[residual\]' spin.varve
expect_eq "exit code of time without a sample" $code 1
expect_match err 'is no function and has no code'
