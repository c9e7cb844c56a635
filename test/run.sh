#!/bin/bash
# SPDX-License-Identifier: MIT
# The test runner: test/run.sh [WHAT...]. WHAT is unit, structure, e2e, stress, or part of a script's name; without it, all but stress.
# Scripts run two at a time (three take as long), those with a line "# long" first, so that none of these is left over with half of the
# machine; those with a line "# idle", which wait most of their time, one by one beside these. Those that measure time come after them:
# with a line "# calm", of which one thread at most works at a time, two of these beside each other; with a line "# alone" one by one. The
# unit tests run beside the first of them, and are waited for before the second. The last line is "N passed, N failed".
set -u
cd "$(dirname "$0")/.." || exit 1
export BUILD=$(realpath -m "${BUILD:-build/release}")
export VARVE=${VARVE:-$BUILD/varve}
export TEST_LIMIT=${TEST_LIMIT:-240}  # seconds for a script
export LC_ALL=C.UTF-8
# The system's programs, which are those that `make deps-check` installs: where python3 is a script that chooses a version, each
# call takes most of a second, and a test records that script.
export PATH=/usr/bin:/bin:$PATH
logs=$(mktemp -d "${TMPDIR:-/tmp}/varve-run.XXXXXX")
export logs
units= idle=
trap 'kill $units $idle 2>/dev/null; rm -rf "$logs"' EXIT
[ $# -gt 0 ] || set -- unit structure e2e

scripts=()
wanted_units=
for what in "$@"; do
  case $what in
    unit) wanted_units=1 ;;
    structure | e2e | stress) scripts+=(test/"$what"/*.sh) ;;
    *) scripts+=(test/*/*"$what"*.sh test/"$what"*.sh) ;;
  esac
done

# Seconds that the children of who wrote FILE by `times` have worked: its second line, "0m4.123s 0m0.456s".
cpu_seconds() { sed -nE '2s/[ms]/ /gp' "$1" | awk '{printf "%.0f", 60 * ($1 + $3) + $2 + $4}'; }

# One script, its seconds, and those that a processor worked for it: its output is shown only if it fails; what it had to leave out
# or to repeat, always. It is a job, so that signals are as a shell has them in the foreground, with a session of its own, so that what
# it leaves running is found, which is a failure, and ended.
run_script() {
  local log=$logs/${1//\//_} begin=$SECONDS
  set -m
  setsid --wait bash -c 'echo $$ >"$0"; exec timeout --kill-after=5 "$@"' "$log.session" "$TEST_LIMIT" bash "$1" >"$log" 2>&1 </dev/null &
  set +m
  trap 'pkill -TERM -s "$(cat "$log.session")"; exit 130' INT TERM HUP
  wait $!
  local code=$? session=$(cat "$log.session")
  times >"$log.times"
  trap - INT TERM HUP
  # What has been told to end may take a moment.
  local left
  for _ in 1 2 3 4 5; do
    left=$(pgrep -a -r D,R,S,T -s "$session") || break
    sleep 0.2
  done
  [ -z "$left" ] || echo "left running: ${left//$'\n'/; }" >>"$log"
  pkill -KILL -s "$session"
  if [ $code = 0 ] && [ -z "$left" ]; then
    echo passed >"$log.result"
    printf '%s\n' "ok    $1 $((SECONDS - begin)) s, $(cpu_seconds "$log.times") of CPU$(sed -nE 's/^(SKIPPED|AGAIN)/\n      \1/p' "$log")"
    return
  fi
  echo failed >"$log.result"
  [[ $code != 124 && $code != 137 ]] || echo "no end within $TEST_LIMIT s" >>"$log"
  printf 'FAIL  %s\n' "$1"
  sed 's/^/      /' "$log"
  printf '      again: BUILD=%s bash %s\n' "$BUILD" "$1"
}
export -f run_script cpu_seconds

passed=0
failed=0
# The unit tests take what the first scripts, which wait for much, leave of the processors.
begin_units() {
  nice -n 5 timeout --kill-after=5 900 "$BUILD/unit-tests" --timeout 120 >"$logs/unit" 2>&1 &
  units=$!
}
end_units() {
  wait "$units"
  local code=$? line tested
  units=
  [[ $code != 124 && $code != 137 ]] || echo "no end within 900 s" >>"$logs/unit"
  # [====] Synthesis: Tested: 12 | Passing: 12 | Failing: 0 | Crashing: 0
  line=$(sed 's/\x1b\[[0-9;]*m//g' "$logs/unit" | grep 'Synthesis:' | tail -1)
  passed=$(sed -n 's/.*Passing: *\([0-9]*\).*/\1/p' <<<"$line")
  tested=$(sed -n 's/.*Tested: *\([0-9]*\).*/\1/p' <<<"$line")
  passed=${passed:-0}
  failed=$((${tested:-0} - passed))
  [ $code = 0 ] || [ $failed != 0 ] || failed=1
  [ "$passed" != 0 ] || [ $failed != 0 ] || failed=1  # no test ran
  [ $failed = 0 ] || cat "$logs/unit"
  printf '%s\n' "unit tests: $passed of ${tested:-0} pass"
}
[ -z "$wanted_units" ] || begin_units

existing=()
for script in "${scripts[@]}"; do [ -f "$script" ] && existing+=("$script"); done
# run_those N OPTION REGEX: N at a time, of the scripts that grep finds by this.
run_those() {
  [ ${#existing[@]} = 0 ] && return
  mapfile -t those < <(grep "$2" "$3" "${existing[@]}" | sort -u)
  [ ${#those[@]} = 0 ] && return
  { grep -l '^# long$' "${those[@]}"; grep -L '^# long$' "${those[@]}"; } | xargs -d '\n' -n1 -P"$1" bash -c 'run_script "$0"'
}
run_those 1 -l '^# idle$' &
idle=$!
run_those 2 -LE '^# (alone|calm|idle)$'
wait $idle
idle=
[ -z "$units" ] || end_units
run_those 2 -l '^# calm$'
run_those 1 -l '^# alone$'
for script in $(printf '%s\n' "${existing[@]}" | sort -u); do
  if [ "$(cat "$logs/${script//\//_}.result" 2>/dev/null)" = passed ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done

echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed != 0 ]
