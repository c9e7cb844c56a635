#!/bin/bash
# SPDX-License-Identifier: MIT
# An installed varve finds its agent; uninstall leaves nothing.
. "$(dirname "$0")/common.inc"

make -C "$root" --no-print-directory BUILD="$BUILD" DESTDIR="$work/root" PREFIX=/usr install >log 2>&1 || fail "install: $(tail -5 log)"
"$work/root/usr/bin/varve" record -o p true 2>err || fail "the installed varve does not record$(show)"
ls p/*.agent >/dev/null || fail "the installed agent was not loaded"
[ -s root/usr/share/man/man1/varve-record.1 ] || fail "no man page"
echo '#include <varve.h>
int main(void) { varve_mark("here"); return 0; }' | gcc -x c -I"$work/root/usr/include" -o marked - || fail "no varve.h"
./marked || fail "a program with varve.h does not run"
make -C "$root" --no-print-directory BUILD="$BUILD" DESTDIR="$work/root" PREFIX=/usr uninstall >>log 2>&1
expect_eq "files left by uninstall" "$(find root -type f)" ""
