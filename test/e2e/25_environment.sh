#!/bin/bash
# SPDX-License-Identifier: MIT
# LD_PRELOAD is added to, never replaced; the recorder's own environment stays as it is.
. "$(dirname "$0")/common.inc"

cat >theirs.c <<'C'
#include <stdio.h>
__attribute__((constructor)) static void hello(void) { fputs("theirs is here\n", stderr); }
C
gcc -shared -fPIC theirs.c -o theirs.so
LD_PRELOAD=$work/theirs.so "$VARVE" record -q -o p sh -c 'echo "$LD_PRELOAD"' >out 2>err
expect_match out '^[^:]*/libvarve\.so:.*/theirs\.so$'
expect_match err 'theirs is here'
record -q -o q sh -c 'echo "$VARVE_SESSION"'
expect_eq "VARVE_SESSION" "$(cat out)" "$work/q"
LD_PRELOAD=/no/such.so check true
expect_match out 'warning +/no/such.so of LD_PRELOAD cannot be preloaded'

# The recorder's own trouble with a limit is not the command's.
(ulimit -f 10 && run "$VARVE" record -o small sh -c 'exit 7' && expect_eq "exit code with tiny files" $code 7) || exit 1
(ulimit -f 100 && "$VARVE" check true >out)
expect_match out 'warning +files are limited to'
(ulimit -i 5 && "$VARVE" check true >out)
expect_match out 'warning +this user may queue only'

# A profile of a recorder that was killed is readable, and the command goes on.
"$VARVE" record -o killed sh -c 'echo $$ >pid; while [ ! -e go ]; do sleep 0.05; done; echo alive >after' &
recorder=$!
wait_for test -s pid
kill -KILL $recorder
wait $recorder 2>/dev/null
touch go
wait_for test -s after
report quality killed
expect_eq "exit code of the report of a killed recorder" $code 0
expect_match out 'The recorder did not see the end of the run'
expect_eq "threads of the command" "$("$VARVE" report threads --format csv killed | grep -c ',sh,')" 1
