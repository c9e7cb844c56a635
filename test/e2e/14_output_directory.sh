#!/bin/bash
# SPDX-License-Identifier: MIT
# Where the profile goes: names, older profiles, refusals. Nothing of the user's is ever overwritten.
. "$(dirname "$0")/common.inc"

record true
expect_eq "exit code" $code 0
expect_match err 'profile in true.varve; next: varve report true.varve'
expect_eq "mode of the directory" "$(stat -c %a true.varve)" 700
for file in true.varve/*; do expect_eq "mode of $file" "$(stat -c %a "$file")" 600; done
first=$(stat -c %i true.varve)
record -q true
record -q /bin/true
expect_eq "the first profile" "$(stat -c %i true.varve.1)" "$first"
[ -d true.varve.2 ] && [ -d true.varve ] || fail "the second one is not true.varve.2: $(ls -d true*)"
[ -z "$(find . -maxdepth 1 -name '.*.varve*')" ] || fail "a hidden directory was left"

mkdir full && echo precious >full/file
for taken in full full/file true.varve; do
  record -o $taken true
  expect_eq "exit code with -o $taken" $code 2
  expect_one_line err
done
expect_eq "the user's file" "$(cat full/file)" precious
mkdir sub && cd sub && echo mine >true.varve
record true
expect_eq "exit code where a file has the default name" $code 2
expect_eq "the user's file" "$(cat true.varve)" mine
cd ..
record -o no/such/place true
expect_eq "exit code in a folder that is not there" $code 2
expect_match err "no directory 'no/such'"
nowhere() { (mkdir gone && cd gone && rmdir ../gone && "$@"); }
run nowhere "$VARVE" record true
expect_eq "exit code in a folder that was removed" $code 125
expect_match err "the directory '.' was removed"
run nowhere "$VARVE" check true
expect_eq "exit code of check there" $code 1
expect_match out "^output +problem +the directory '.' was removed"
record -o 'name with space' true
expect_match err "next: varve report 'name with space'"
if [ "$(id -u)" != 0 ]; then
  mkdir sealed && chmod 500 sealed
  record -o sealed/p true
  expect_eq "exit code in a read-only folder" $code 125
  expect_match err "cannot write to 'sealed'"
fi
record -o /proc/profile true
expect_eq "exit code where no directory can be made" $code 125
expect_one_line err

# Two recorders at once: the second takes a number instead of moving the first one's directory.
cd "$work" && mkdir both && cd both
"$VARVE" record -q sh -c 'echo ready >flag; while [ ! -e go ]; do sleep 0.05; done' &
wait_for test -e flag
record -q sh -c 'exit 0'
touch go
expect_eq "profiles" "$(ls -d sh.varve* | tr '\n' ' ')" "sh.varve sh.varve.1 "
wait
grep -qa finished sh.varve/session || fail "the first recorder lost its directory"
