#!/bin/bash
# SPDX-License-Identifier: MIT
# Other classes, other machines, damaged files, missing loaders and libraries.
. "$(dirname "$0")/common.inc"

echo 'int main(void) { return 0; }' >main.c
gcc main.c -o program
# patch NAME OFFSET BYTE: a copy of the program with one byte of its header changed
patch() {
  cp program "$1"
  printf "\\x$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
refused() {
  check "$1"
  expect_eq "exit code of varve check $1" $code 1
  expect_match out "$2"
  record "$1"
  expect_eq "exit code of varve record $1" $code 126
  expect_one_line err
}
patch class32 4 01
refused ./class32 '32-bit'
patch arm 18 b7
refused ./arm 'another kind of processor'
patch object 16 01
refused ./object 'no program'
head -c 20 program >cut && chmod +x cut
refused ./cut 'damaged ELF'
head -c 100000 /bin/bash >half && chmod +x half
refused ./half 'cut short'
printf '\x7fELF' >tiny && chmod +x tiny
refused ./tiny 'damaged ELF'
printf '\0\1\2\3' >binary && chmod +x binary
refused ./binary 'no program'

gcc main.c -o lost -Wl,--dynamic-linker=/no/such/ld.so
refused ./lost 'dynamic loader .* missing'
echo 'int part(void) { return 0; }' | gcc -x c -shared -fPIC - -o libpart.so
echo 'int part(void); int main(void) { return part(); }' | gcc -x c - -o needs -L. -lpart
refused ./needs 'libpart.so is missing'
LD_LIBRARY_PATH=. check ./needs
expect_eq "exit code with LD_LIBRARY_PATH" $code 0

# Every cut of a program: a sentence, no crash.
for size in 1 4 16 63 64 100 200 600 800 1000 2000 4000 8000 15000; do
  head -c $size program >short && chmod +x short
  check ./short
  [ $code -le 1 ] || fail "varve check of $size bytes ended with $code$(show)"
done
