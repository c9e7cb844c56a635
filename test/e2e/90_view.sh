#!/bin/bash
# SPDX-License-Identifier: MIT
# varve view without a terminal, or with one that is of no use, prints what varve report prints; screens are saved as text; what it
# cannot do is one sentence.
. "$(dirname "$0")/common.inc"

record -q -o demo "$BUILD/varve-demo"
expect_eq "exit code" $code 0

# same VIEW-ARGUMENTS -- REPORT-ARGUMENTS
same() {
  local view=()
  while [ "$1" != -- ]; do
    view+=("$1")
    shift
  done
  shift
  "$VARVE" report "$@" >wanted || fail "varve report $*"
  run "$VARVE" view "${view[@]}"
  expect_eq "exit code of view ${view[*]}" $code 0
  cmp -s out wanted || fail "view ${view[*]} is not report $*$(show)"
}
same demo -- demo
same --
same hotspots demo -- hotspots demo
same flame demo -- top-down demo
same help demo -- demo
same --no-mouse hotspots demo -- hotspots demo
same --function flame hotspots demo -- --function flame hotspots demo
same hotspots --thread compressor --min-share 1 demo -- hotspots --thread compressor --min-share 1 demo
same callers longest_match demo -- callers longest_match demo
same demo hotspots -- hotspots demo
same demo flame -- top-down demo
same --limit=3 hotspots demo -- --limit 3 hotspots demo
cp -r demo ./-demo
"$VARVE" report hotspots -- -demo >wanted || fail "varve report of -demo"
run "$VARVE" view hotspots -- -demo
expect_eq "exit code of view hotspots -- -demo" $code 0
cmp -s out wanted || fail "view hotspots -- -demo is not report$(show)"
rm -r ./-demo

# What only screens have is left out, here a limit, which annotate has not.
"$VARVE" annotate longest_match demo >wanted || fail "varve annotate"
for only in "--limit 5" --error "--sort total" --min-share=3 --no-mouse; do
  run "$VARVE" view annotate $only longest_match demo
  expect_eq "exit code of view annotate $only" $code 0
  cmp -s out wanted || fail "view annotate $only is not annotate$(show)"
done

# on_terminal COMMAND: in a terminal of its own, whose output goes to the file out.
on_terminal() {
  VARVE_PAGER=cat script -qec "$1" /dev/null </dev/null >out 2>err
  code=$?
  tr -d '\r' <out >out.tmp && mv out.tmp out
}
for term in "TERM=dumb" "-u TERM" "TERM="; do
  on_terminal "env $term '$VARVE' view hotspots demo"
  expect_eq "exit code with $term" $code 0
  expect_match out '^Self'
  expect_match out 'longest_match'
  expect_eq "sentences about $term" "$(grep -c '^varve view: TERM is .*, so there are no screens' out)" 1
  expect_no_match out $'\e\\[\\?1049h'
done
on_terminal "env TERM=no-such-terminal '$VARVE' view hotspots demo"
expect_eq "exit code of an unknown terminal" $code 0
expect_eq "sentences about the terminal" "$(grep -c "^varve view: .*'no-such-terminal'" out)" 1
expect_match out 'longest_match'

# Screens as text.
saved() { run "$VARVE" view --save-screen - "$@"; }
saved demo
expect_eq "exit code" $code 0
expect_eq "lines of a screen" "$(wc -l <out)" 24
expect_match out '^\[1 Sum\]'
saved --size 120x40 --script '2jj' demo
expect_eq "lines of a larger one" "$(wc -l <out)" 40
expect_match out '\[2 Hotspots\]'
run "$VARVE" view --size 100x20 hotspots demo
expect_eq "lines where only a size is given" "$(wc -l <out)" 20
saved --script '3/longest<Enter>f2q<Resize 100x30>' demo
expect_match out 'filter: function demo::longest_mat'
expect_eq "lines after a resize" "$(wc -l <out)" 30
saved callers longest_match demo
expect_match out '\[5 Call\]'
expect_match out 'compress_block'
saved --color always hotspots demo
expect_match out $'\e\\['
for never in "--color never" "--color auto" ""; do
  saved $never hotspots demo
  expect_no_match out $'\e'
done
run env LC_ALL=C "$VARVE" view --save-screen screen top-down demo
expect_eq "exit code" $code 0
expect_eq "bytes that are not ASCII" "$(LC_ALL=C grep -cP '[^\x20-\x7e]' screen)" 0
expect_match screen '\[3 Down\]'
saved --size 59x11 demo
expect_match out '^enlarge to 60x12$'

# A profile that is still written is shown, and says so.
"$VARVE" record -q -o live sleep 60 &
recorder=$!
recorded() { [ -n "$(find live -name '*.agent' 2>/dev/null)" ]; }
wait_for recorded
saved live
expect_eq "exit code of a live profile" $code 0
expect_match out 'still being recorded; r reads it again'
kill -TERM $recorder
wait $recorder

# refused CODE SENTENCE ARGUMENTS...
refused() {
  local wanted=$1 sentence=$2
  shift 2
  run "$VARVE" view "$@"
  expect_eq "exit code of view $*" $code "$wanted"
  expect_eq "output of view $*" "$(wc -c <out)" 0
  expect_one_line err
  expect_match err "^varve view: $sentence"
}
mkdir empty
size='is not a size such as 80x24, columns by rows, up to 1000x1000'
for bad in 80 80x 0x24 1001x24 80x24x3 axb -1x5; do refused 2 "--size $bad $size" --size "$bad" demo; done
refused 2 "--size is not a size|--size  is not a size" --size '' demo
refused 2 "--script <Nope> has no key <Nope>" --script '<Nope>' demo
refused 2 "--script a< has a '<' without '>'" --script 'a<' demo
refused 2 "--color green is not one of auto, always, never" --color green demo
refused 2 "--thread \( is not a regular expression" --save-screen - --thread '(' demo
refused 2 "unknown option '--sise', did you mean '--size'\?" --sise 80x24 demo
refused 2 "unexpected argument 'demo'" --save-screen - hotspots demo demo
refused 2 "'hotspot' is neither a screen nor a profile: .*; did you mean 'hotspots'\?" --save-screen - hotspot
refused 2 "'demo' is no screen: it is not one of summary, " demo hotspot
refused 1 ".*nowhere" --save-screen - hotspots nowhere
refused 1 ".*empty" --save-screen - empty
refused 1 "cannot write no/such/file: No such file or directory" --save-screen no/such/file demo
refused 1 "cannot write empty: Is a directory" --save-screen empty demo
refused 1 "cannot write /dev/full: No space left on device" --save-screen /dev/full demo
"$VARVE" view --save-screen - demo >/dev/full 2>err
expect_eq "exit code on a full disk" $? 1
expect_one_line err
