#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs into which nothing can be preloaded are refused with a sentence, before they run.
. "$(dirname "$0")/common.inc"

refused() {
  check "$1"
  expect_eq "exit code of varve check $1" $code 1
  expect_match out "problem .*$2"
  expect_match out 'way out: '
  record "$1"
  expect_eq "exit code of varve record $1" $code 126
  expect_match err "$2"
  expect_one_line err
  [ ! -e ran ] || fail "$1 was run"
  [ -z "$(find . -maxdepth 1 -name '*.varve')" ] || fail "a profile was made"
}
echo 'int main(void) { extern int creat(const char*, int); creat("ran", 0600); return 0; }' >main.c
gcc -w -O1 -static main.c -o static
gcc -w -O1 -static-pie -fPIE main.c -o static-pie
refused ./static 'is statically linked'
refused ./static-pie 'is static-pie'
musl-gcc -w main.c -o musl
refused ./musl 'musl'

# Go's linker marks its programs; a static one has better tools of its own.
echo 'Go' >note
objcopy --add-section .go.buildinfo=note static go
refused ./go 'Go program'
gcc -w -O1 main.c -o dynamic
objcopy --add-section .go.buildinfo=note dynamic cgo
check ./cgo
expect_eq "exit code of a dynamically linked Go program" $code 0
expect_match out 'cgo'
