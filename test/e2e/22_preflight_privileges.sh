#!/bin/bash
# SPDX-License-Identifier: MIT
# In programs that change their user the loader ignores LD_PRELOAD; so do those with capabilities. Needs root to make them.
. "$(dirname "$0")/common.inc"
[ "$(id -u)" = 0 ] || { echo "SKIPPED: all of it; only root can make such programs"; exit 0; }
chmod 755 "$work"

refused_for_nobody() {
  setpriv --reuid=65534 --regid=65534 --clear-groups "$VARVE" check "$1" >out 2>err
  expect_eq "exit code for $1" $? 1
  expect_match out "$2"
}
cp "$(type -P true)" plain && chmod 755 plain
if ! setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$VARVE"; then
  echo "SKIPPED: all of it; varve cannot be run by others"
  exit 0
fi
setpriv --reuid=65534 --regid=65534 --clear-groups "$VARVE" check ./plain >out 2>err
expect_match out 'privileges +ok'
cp plain setuid && chmod 4755 setuid
refused_for_nobody ./setuid 'is setuid'
cp plain setgid && chmod 2755 setgid
refused_for_nobody ./setgid 'is setgid'
cp plain capable && setcap cap_net_raw+ep capable
refused_for_nobody ./capable 'file capabilities'
# For root itself they change nothing.
check ./setuid
expect_match out 'privileges +ok'
