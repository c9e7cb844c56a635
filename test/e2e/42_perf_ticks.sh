#!/bin/bash
# SPDX-License-Identifier: MIT
# Ticks from performance events (--timer perf): as many as the CPU time has intervals, also below the kernel's own tick; in the
# kernel too; of forked, executed and ended threads. Where they are refused one sentence says so before the program starts, or CPU
# timers are taken, and the report says that.
# alone
. "$(dirname "$0")/perf.inc"

fact() { "$VARVE" report quality --format json "$2" | python3 -c "import json,sys; print(json.load(sys.stdin)['$1'])"; }

# Distances are drawn evenly from 7/8 to 9/8 of the interval, one for 64 ticks: their standard deviation is 1/(8*sqrt(3)) of it, and
# N ticks have N/64 of them. A tick that comes while the last one is pending, or while a hypervisor has the processor, is merged
# with the next; at 100 us those are a few in a hundred of a busy machine's. CPU timers would have a sample each 4 ms or more.
samples_are_true() {  # DIR NS
  local samples=$(summary samples $1) merged=$(summary overruns $1) due="($(summary sampled_ns $1) / $2)"
  # Where a machine is slow a sample costs more than the self-limit has for it: 2 %, but not less than 20 us. One thread of several has.
  if [ "$(fact slowed_threads $1)" != 0 ]; then
    holds "a sample costs as much as lengthens intervals" "$(summary handler_ns $1) / $(summary samples $1) > max(0.02 * $2, 20e3) / 4"
    echo "SKIPPED: as many ticks as intervals at $2 ns; $("$VARVE" report quality $1 | grep '^Interval')"
    return
  fi
  holds "expirations at $2 ns" "abs($samples + $merged - $due) <= 3 * 64 / (8 * 3 ** 0.5) * max(1, $due / 64) ** 0.5 + 0.01 * $due + 3"
  holds "merged ticks at $2 ns" "$merged <= 0.2 * $due + 5"
}
samples_of_busy_threads() {
  perf_profile p$interval $interval $programs/busy_threads 2 $((600 * $1))
  ledger p$interval
  samples_are_true p$interval $((${interval%us} * 1000))
  nothing_of_ours p$interval
}
for interval in 10000us 1000us 100us; do more_work samples_of_busy_threads; done
expect_match <("$VARVE" report quality p100us) '^Timer +performance events'

# The default is events below the kernel's tick, CPU timers from there on but for threads that may be in step with it.
record -q --interval 1ms -o auto1 true
expect_eq "timer at 1 ms" "$(summary timer auto1)" perf
record -q -o auto10 true
expect_eq "timer at 10 ms" "$(summary timer auto10)" cpu
record -q --interval 1ms --timer cpu -o cpu1 true
expect_match <("$VARVE" report quality cpu1) '^Timer +CPU timers, which the kernel looks at every'

# Children by fork, exec and spawn, and short threads: all have ticks of their own.
children() {
  perf_profile children 1ms sh -c "'$programs/busy_threads' 1 $((200 * $1)); ( '$programs/busy_threads' 1 200 ); exec '$programs/busy_threads' 2 200"
  ledger children
  samples_are_true children 1000000
}
more_work children
perf_profile churn 1ms $programs/thread_churn 300 2
ledger churn
expect_eq "threads of the program" "$(truth threads)" 300

# Who may not have them is told so before the program starts.
if [ "$(id -u)" != 0 ] || [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -lt 2 ]; then
  echo "SKIPPED: the refusal; this needs root, and kernel.perf_event_paranoid of 2 or more"
  exit 0
fi
chmod 755 "$work" && mkdir -m 777 others && cp "$VARVE" varve && cp "$BUILD/libvarve.so" . || fail "cannot copy"
as_nobody() { run setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --bounding-set=-all "$work/varve" record "$@"; }
cd others || exit 1
as_nobody --timer perf -o refused touch started
expect_eq "exit code of a refusal" $code 2
expect_one_line err
expect_match err 'perf_event_paranoid is [0-9]: it must be 1 or less, or the user have CAP_PERFMON'
[ ! -e started ] || fail "the program ran although its ticks were refused"
expect_match <(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --bounding-set=-all "$work/varve" check true) \
  '^ticks +ok +come no more often than every [0-9.]+ ms: .*perf_event_paranoid is [0-9]'
as_nobody -q --interval 1ms -o auto true
expect_eq "exit code of auto" $code 0
expect_eq "timer of who may have no events" "$(summary timer auto)" cpu
expect_match <("$VARVE" report quality auto) 'not performance events: .*perf_event_paranoid'
