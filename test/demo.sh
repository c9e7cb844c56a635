#!/bin/bash
# SPDX-License-Identifier: MIT
# make demo: records the bundled program and shows the reports, each with the command that made it.
set -eu
build=$(realpath "${BUILD:-build/release}")
work=$(mktemp -d "${TMPDIR:-/tmp}/varve-demo.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
PATH=$build:$PATH

run() {
  printf '\n$ %s\n' "$*"
  "$@"
}
run varve record varve-demo
run varve report --width 100
run varve report hotspots --limit 10 --width 100
run varve report threads --width 100
run varve report top-down --min-share 5 --width 100
printf '\nYour own program: %s record ./program\n' "$build/varve"
