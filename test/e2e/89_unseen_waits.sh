#!/bin/bash
# SPDX-License-Identifier: MIT
# Waits that no hook sees: by system calls of the program's own. The observer looks at the thread from outside; object, time and
# stack are the program's own, and a thread's waits still add up to its Wait. Where a look is not possible nothing happens.
# calm
# long
. "$(dirname "$0")/run_states.inc"
sanitized && echo "SKIPPED: an observer that is built with AddressSanitizer is late for what is looked at here" && exit 0

program=$programs/raw_waits

# adds_up: waits by object and [other waits] are the Wait of the threads.
adds_up() {
  holds "sum of $1" "abs($(rows waits w "sum(n(r, 'wait_ns') for r in rows)") - $(rows threads w "sum(n(r, 'wait_ns') for r in rows)")) <= 10"
  rows threads w "[r['name'] for r in rows if r['wait_ns'] and r['lifetime_ns'] and
    abs(n(r, 'cpu_ns') + n(r, 'inactive_ns') + n(r, 'wait_ns') - n(r, 'lifetime_ns'))
    > 0.01 * n(r, 'lifetime_ns') + 2e3]" >wrong
  expect_eq "$1: threads whose parts are not their lifetime" "$(cat wrong)" "[]"
}

# waits WHAT TYPE FUNCTION...: the thread's waits, and its stack from the outermost function to the innermost. A machine that
# loses its processors for longer than a wait takes makes sweeps see fewer of them: so sweeps are tried up to three times.
waits() {
  local try
  for try in 1 2 3; do
    (trap - EXIT; waits_once "$@")
    case $? in
      0) return ;;
      3) exit 1 ;;
    esac
    [ "$run_states" = sweeps ] || exit 1
    echo "AGAIN: sweeps came too late for the waits of $1"
  done
  fail "sweeps came too late for the waits of $1, three times"
}
waits_once() {
  local what=$1 type=$2
  shift 2
  profile w "$program" "$what"
  local ns=$(truth waited_ns) count=$(truth waits)
  local mine="r['type'] == '$type'"
  [ "$type" = Futex ] && mine="r['object'] == 'Futex word'"
  # On a busy machine sweeps come late, 50 ms and more apart: of two waits they then see one, or one more, and ends to that.
  local more=0 least_share=0.97 most_share=1.03
  [ "$run_states" != sweeps ] || more=3 least_share=0.9 most_share=1.1
  local counted=$(rows waits w "sum(n(r, 'wait_count') for r in rows if $mine and n(r, 'wait_count') >= $count - $more)")
  holds "waits of $what are $counted" "$count - $more <= $counted <= $count + $more"
  local got=$(rows waits w "sum(n(r, 'wait_ns') for r in rows if $mine and n(r, 'wait_count') >= $count - $more)")
  # What a thread that was woken waits for a processor is in its own clock.
  local least="$least_share * $ns - $(rows threads w "sum(n(r, 'inactive_ns') for r in rows)")"
  holds "wait of $what is $got, by its own clock $ns" "$least <= $got <= $most_share * $ns"
  adds_up "$what"
  for function in "$@"; do
    rows top-down w "max([n(r, 'total_ns') for r in rows if r['function'] == '$function'] or [0])" --metric wait >total
    holds "wait below $function of $what" "$least <= $(cat total) <= $most_share * $ns"
  done
}

seen() {
  local run_states=$1
  waits futex Futex work outer middle inner
  waits framed Futex work framed_outer framed_middle framed_inner
  waits read Stream work outer middle inner
  # A stack deeper than is followed says so, and has its inner end.
  waits deep Futex outer middle inner
  report top-down w --metric wait
  expect_match out 'Skipped frame\(s\): stack depth limit'
  # So does one that leads to no memory.
  waits nowhere Futex nowhere
  report top-down w --metric wait
  expect_match out 'Unknown frame\(s\): unreadable stack memory'
}
at_once seen $sources

# Short waits, again and again: looks stand for those around them.
build short <<'END'
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static int word;
__attribute__((noinline)) static void nap(void) {
  struct timespec time = {0, 1000000};
  register struct timespec* r10 __asm__("r10") = &time;
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "0"((long)SYS_futex), "D"(&word), "S"((long)FUTEX_WAIT_PRIVATE), "d"(0l), "r"(r10)
                   : "rcx", "r11", "memory");
}
int main(int count, char** times) {
  if (count > 2 && fork()) return wait(&word) < 0;
  for (long i = 0; i < atol(times[1]); ++i) nap();
  return 0;
}
END
short() {
  local run_states=$1
  profile w ../short 1000
  holds "short waits" "$(rows waits w "sum(n(r, 'wait_ns') for r in rows if r['type'] == 'Futex')") > \
    0.8 * $(rows waits w "sum(n(r, 'wait_ns') for r in rows)")"
  adds_up "short waits"
  # Looks by sweeps know sums of short waits, and of none how long it was.
  expect_eq "longest of them that lasted 0 ns" "$(rows waits w "[r['longest_ns'] for r in rows if r['type'] == 'Futex'].count('0')")" 0
}
at_once short $sources

# Who has no tick, itself or as a forked child, has names of its variables all the same.
for child in "" child; do
  interval_ms=1000 profile w ./short 1000 $child
  expect_eq "object of ${child:-main}" "$(rows waits w "[r['object'] for r in rows if r['type'] == 'Futex']")" "['Futex word']"
done

# One that lasts after many short ones at the same place has its stack: looks that come seldom for these still come to that.
build lasting <<'END'
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
static int word;
__attribute__((noinline)) static void nap(long ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  register struct timespec* r10 __asm__("r10") = &time;
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "0"((long)SYS_futex), "D"(&word), "S"((long)FUTEX_WAIT_PRIVATE), "d"(0l), "r"(r10)
                   : "rcx", "r11", "memory");
}
__attribute__((noinline)) static void lasting_nap(void) {
  nap(500);
  __asm__ volatile("");
}
int main(void) {
  for (int i = 0; i < 20; ++i) nap(1);
  lasting_nap();
  return 0;
}
END
lasting() {
  local run_states=$1
  profile w ../lasting
  # Of half a second; a look may come late.
  holds "wait below lasting_nap" "$(rows top-down w "max([n(r, 'total_ns') for r in rows if r['function'] == 'lasting_nap'] or [0])" --metric wait) \
    >= 350e6"
  adds_up "a wait after short ones"
}
at_once lasting $sources

# A wait that the end of the process ends has a stack all the same.
build endless <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
__attribute__((noinline)) static void* wait_for_ever(void* unused) {
  pthread_mutex_lock(&lock);
  for (;;) pthread_cond_wait(&never, &lock);
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, wait_for_ever, 0);
  usleep(400000);
  _exit(0);
}
END
profile w ./endless
expect_eq "waits for ever" "$(rows waits w "[(r['wait_count'], 'wait_for_ever' in r['created_at']) for r in rows if r['type'] == 'Condition']")" \
  "[('1', True)]"
adds_up "waits for ever"

# --waits off: no look either.
record -q --waits off -o off "$program" futex
expect_eq "exit code" $code 0
report waits off
expect_no_match out 'Futex'

# A process that may not be looked at is left alone, and the quality view says so.
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
if [ "$(id -u)" != 0 ]; then
  run "$VARVE" record -q -o secret "$program" secret
elif chmod 755 "$work" && $nobody test -x "$VARVE" -a -x "$program"; then
  mkdir -m 777 open
  run $nobody "$VARVE" record -q -o open/secret "$program" secret
  mv open/secret secret
else
  echo "SKIPPED a process that may not be looked at: varve cannot be run by others"
  exit 0
fi
expect_eq "exit code" $code 0
expect_eq "waits of secret" "$(truth waits)" 10
report waits secret
expect_no_match out Futex
report quality secret
expect_match out '1 process could not be looked at from outside'
