#!/bin/bash
# SPDX-License-Identifier: MIT
# Locks and waits: programs that measure their own waits. Counts are exact, times within 3 %, the object has its type and
# the function that waited, its holder is the thread that let go; the waits of a thread add up to its Wait.
# alone
. "$(dirname "$0")/agent.inc"

# object TYPE COLUMN [FUNCTION]: of the objects of a type, those that the waiter first waited for in a function. The other
# thread's call may take long for want of a processor, and of a write nobody knows whether that was it.
object() { rows waits waits "sum(n(r, '$2') for r in rows if r['type'] == '$1' and '($3)' in r['created_at'])" --thread waiter; }

# waits WHAT TYPE FUNCTION [HOLDER]
waits() {
  local what=$1 type=$2 function=$3 holder=${4:-}
  profile waits "$programs/wait_truth" "$what"
  local count=$(truth waits) ns=$(truth waited_ns)
  expect_eq "waits of $what" "$(object "$type" wait_count "$function")" "$count"
  local got=$(object "$type" wait_ns "$function")
  # A thread that is awake and has no processor yet does not wait any more, but its own clock counts it.
  holds "wait of $what is $got, by its own clock $ns, $(truth ready_ns) ready" \
    "0.97 * $ns - $(truth ready_ns) - 1e6 <= $got <= 1.03 * $ns"
  [ -z "$holder" ] || expect_eq "who ended waits of $what" \
    "$(rows waits waits "[r['top_holder'].split(':')[0] for r in rows if r['type'] == '$type' and '($function)' in r['created_at']]" --thread waiter)" \
    "['$holder']"
  # By thread: what the objects have, and [other waits].
  holds "sum of $what" "abs($(rows waits waits "sum(n(r, 'wait_ns') for r in rows)") - $(rows threads waits "sum(n(r, 'wait_ns') for r in rows)")) <= 10"
}

# What else a hook sees: by one source of run states.
waits once Once once_waiter holder
waits call_once Once call_once_waiter holder
waits mtx Mutex mtx_waiter holder
waits futex Futex futex_waiter holder
waits msgrcv Queue queue_waiter holder
waits msgsnd Queue queue_sender holder
waits semop Semaphores change_set holder
waits flock "File lock" flock_waiter
waits fcntl "File lock" lock_file
waits pipe Stream pipe_reader holder
waits full_pipe Stream full_pipe_writer holder
waits poll Poll poller holder
waits socket Stream socket_reader holder
waits sigwait Signal signal_waiter
waits sigsuspend Signal pause_waiter
for run_states in auto sweeps; do
  waits mutex Mutex mutex_waiter holder
  waits condition Condition condition_waiter holder
  waits rwlock RwLock reader holder
  waits semaphore Semaphore semaphore_waiter holder
  waits barrier Barrier early holder
  waits sleep Sleep sleeper
done
run_states=

profile waits "$programs/wait_truth" mutex
expect_eq "main waits for the first" "$(rows waits waits "'Thread waiter' in [r['object'].split(' (')[0] for r in rows if r['type'] == 'Thread']")" True
report top-down waits --metric wait --format csv
expect_match out 'mutex_waiter'
report waits waits
expect_match out '^Who ended these waits'

# What a signal interrupts has no descriptor that is known to be readable; polls of nothing are sleeps like any other.
build poller <<'END'
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/time.h>
static void nothing(int unused) { (void)unused; }
int main(void) {
  struct sigaction action = {.sa_handler = nothing};
  struct itimerval soon = {{0, 0}, {0, 20000}};
  struct pollfd one = {0, 0, 0};
  struct timeval time = {0, 20000};
  sigaction(SIGALRM, &action, 0);
  setitimer(ITIMER_REAL, &soon, 0);
  poll(&one, 1, 10000);
  setitimer(ITIMER_REAL, &soon, 0);
  ppoll(0, 0, 0, 0);
  select(0, 0, 0, 0, &time);
  return 0;
}
END
profile polls ./poller
expect_eq "polls" "$(rows waits polls "[(r['object'], r['wait_count']) for r in rows if r['type'] in ('Poll', 'Sleep')]")" \
  "[('Sleep', '2'), ('Poll', '1')]"

# Two processes: who reads from a pipe waits for who writes to it, and so the critical path goes from the one to the other.
build pipeline <<'END'
#define _GNU_SOURCE
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void work(long ms) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}
int main(void) {
  int ends[2];
  char byte = 0;
  if (pipe(ends)) return 1;
  if (fork() == 0) {
    prctl(PR_SET_NAME, "writer");
    for (int i = 0; i < 20; ++i)
      if (work(8), write(ends[1], &byte, 1) != 1) return 1;
    return 0;
  }
  for (int i = 0; i < 20; ++i)
    if (read(ends[0], &byte, 1) != 1 || (work(1), 0)) return 1;
  work(40);
  return wait(0) < 0;
}
END
profile piped ./pipeline
# A reader that has no processor for a while finds bytes there.
expect_eq "that reads of the pipe waited, and for whom" \
  "$(rows waits piped "[(n(r, 'wait_count') > 10, r['top_holder'].split(':')[0]) for r in rows if r['object'].startswith('Pipe')]" --thread pipeline)" \
  "[(True, 'writer')]"
holds "until the last byte the path is the writer's" "$(rows critical-path piped \
  "sum(n(r, 'end_ns') - n(r, 'begin_ns') for r in rows if r['pid'] != rows[0]['pid']) / sum(n(r, 'end_ns') - n(r, 'begin_ns') for r in rows)") > 0.5"

# --waits off: no wait has a row, and the profile says why.
record -q --waits off -o off "$programs/wait_truth" sleep
expect_eq "exit code" $code 0
report waits off
expect_match out 'Waits were not recorded: --waits off'
expect_no_match out 'Sleep'

# Short waits are counted without a stack, however many there are; min= says what is short.
record -q --waits min=100ms -o short "$programs/wait_truth" mutex
rows waits short "sum(n(r, 'wait_count') for r in rows if r['type'] == 'Mutex')" >count
expect_eq "short waits" "$(cat count)" 20
record --waits min=2h true
expect_eq "exit code" $code 2
expect_match err "out of range"
record --waits often true
expect_match err "is not on, off or min=DURATION"
