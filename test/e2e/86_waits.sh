#!/bin/bash
# SPDX-License-Identifier: MIT
# Locks and waits: programs that measure their own waits. Counts are exact, times within 3 %, the object has its type and
# the function that waited, its holder is the thread that let go; the waits of a thread add up to its Wait.
# calm
# long
. "$(dirname "$0")/agent.inc"

# waits WHAT TYPE FUNCTION [HOLDER]
waits() {
  profile waits "$programs/wait_truth" "$1"
  expect_eq "what is wrong with waits of $1" "$(VARVE=$VARVE python3 "$root/test/e2e/known_waits.py" "$@")" ""
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
expect_match <(rows waits waits "[r['created_at'] for r in rows if r['type'] == 'Barrier']") 'wait_truth.c:[0-9]+ \(prepare\)'

# By whatever waits are listed, they add up to the same: the Wait of all threads. So they do in a part of the run, in which
# some threads only waited.
for cut in "" "--time 40ms-90ms"; do
  whole=$(rows threads waits "sum(n(r, 'wait_ns') for r in rows)" $cut)
  for by in object function thread callpath; do
    holds "waits by $by $cut" \
      "abs($(rows waits waits "sum(n(r, 'wait_ns') for r in rows)" --by $by $cut) - $whole) <= 10"
  done
done
expect_eq "who waited" "$(rows waits waits "[r['name'] for r in rows if n(r, 'wait_ns') == max(n(s, 'wait_ns') for s in rows if s['name'] == 'waiter')]" --by thread)" "['waiter']"
expect_eq "by path" "$(rows waits waits "[r['callpath'].split(';')[-1] for r in rows if r['function'] == 'mutex_waiter']" --by callpath)" "['mutex_waiter']"
expect_eq "sorted by count" "$(rows waits waits "[n(r, 'wait_count') for r in rows] == sorted([n(r, 'wait_count') for r in rows], reverse=True)" --sort samples --limit 0)" True
# Who ended waits adds up to all of them, also where their objects have no row.
ended() { "$VARVE" report waits --format json "$@" waits | python3 -c 'import json, sys; print(sum(r["caused_ns"] for r in json.load(sys.stdin)["holders"]))'; }
expect_eq "what ended the waits of all objects" "$(ended --limit 1)" "$(ended)"
report waits --limit 1 waits
expect_match out '^Wait .* by [0-9]+ objects \([0-9]+ not shown\)'
expect_match out '\[[0-9]+ other objects?\]'

# Why processors idle: the holder has the lock and runs, the others wait. Every list of parts adds up.
idle() { rows idle "$@"; }
fact() { "$VARVE" report idle --target 2 --format json waits | python3 -c "import json, sys; print(json.load(sys.stdin)['$1'])"; }
for cut in "" "--thread waiter" "--function mutex_waiter" "--time 40ms-90ms" "--band idle,poor,ok,ideal,over" "--limit 2"; do
  "$VARVE" report idle --target 2 $cut --format json waits >idle.json || fail "report idle $cut"
  expect_eq "parts of idle $cut" "$(python3 -c "
import json
idle = json.load(open('idle.json'))
print(sum(row['thread_ns'] for row in idle['idle']) == idle['thread_ns'],
      idle['running_ns'] + idle['ready_ns'] + idle['waiting_ns'] + idle['filtered_out_ns'] == idle['thread_ns'])")" "True True"
done
lock=$(rows waits waits "sum(n(r, 'idle_ns') + n(r, 'poor_ns') for r in rows if r['type'] == 'Mutex')" --target 2)
holds "waits for the lock while processors idle, of $lock" \
  "0.99 * $lock <= $(idle waits "sum(n(r, 'thread_ns') for r in rows if r['what'].startswith('Mutex'))" --target 2) <= 1.01 * $lock"
expect_eq "who ended them" "$(idle waits "[r['ended_by'] for r in rows if r['what'].startswith('Mutex')]" --target 2)" "['holder']"
holds "bands of the summary" "$(fact band_elapsed_ns) == $("$VARVE" report summary --target 2 --format csv waits | awk -F, '/^(idle|poor)_ns/ {sum += $2} END {printf "%d", sum}')"
report idle --target 2 waits
expect_match out '^Elapsed +For .* at most one thread was active while the target was 2'
expect_match out '^Threads .* ran .*waited'
report idle --band idle,none waits
expect_eq "exit code" $code 2
expect_match err 'is not a list of bands'

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
  struct itimerval soon = {{0, 0}, {0, 20000}}, often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
  struct pollfd one = {0, 0, 0};
  struct timeval time = {0, 20000};
  sigaction(SIGALRM, &action, 0);
  setitimer(ITIMER_REAL, &soon, 0);
  poll(&one, 1, 10000);
  setitimer(ITIMER_REAL, &often, 0);  // the first may come before the call
  ppoll(0, 0, 0, 0);
  setitimer(ITIMER_REAL, &never, 0);
  select(0, 0, 0, 0, &time);
  return 0;
}
END
profile polls ./poller
expect_eq "polls" "$(rows waits polls "[(r['object'], r['wait_count']) for r in rows if r['type'] in ('Poll', 'Sleep')]")" \
  "[('Sleep', '2'), ('Poll', '1')]"

# A lock goes by the variable that it is part of, also where the program is gone; on the heap by its address.
build locks -I"$root" <<'END'
#include <stdlib.h>
#include "test/programs/wait_for.h"
struct queue { long size; pthread_mutex_t lock; };
static struct { int count; struct queue queues[3]; } table;
pthread_mutex_t plain;
static void wait_for_lock(pthread_mutex_t *lock) { pthread_mutex_init(lock, NULL), wait_for(lock); }
int main(void) {
  struct queue *own = malloc(sizeof *own);
  wait_for_lock(&table.queues[2].lock);
  wait_for_lock(&plain);
  wait_for_lock(&own->lock);
  return 0;
}
END
locks() { rows waits "$1" "sorted(r['object'] for r in rows if r['type'] == 'Mutex' and not r['object'].startswith('Mutex 0x'))"; }
profile known ./locks
expect_eq "locks by variable" "$(locks known)" "['Mutex plain', 'Mutex table.queues[2].lock']"
expect_eq "lock on the heap" "$(rows waits known "sum(r['object'].startswith('Mutex 0x') for r in rows)")" 1
strip -g locks
profile symbols ./locks
expect_eq "locks by symbol" "$(locks symbols | sed 's/+0x[0-9a-f]*/+N/')" "['Mutex plain', 'Mutex table+N']"
strip locks
profile stripped ./locks
expect_eq "locks by module" "$(locks stripped | sed 's/+0x[0-9a-f]*/+N/g')" "['Mutex locks+N', 'Mutex locks+N']"
rm locks
expect_eq "locks without a program" "$(locks known)" "['Mutex plain', 'Mutex table.queues[2].lock']"

# One address, four objects after each other: each has the line that made it, one without a call that of its first waiter.
build lives -I"$root" <<'END'
#include <stdlib.h>
#include "test/programs/wait_for.h"
static void make_one(pthread_mutex_t *lock) { pthread_mutex_init(lock, NULL); }
static void make_other(pthread_mutex_t *lock) { pthread_mutex_init(lock, NULL); }
int main(void) {
  pthread_mutex_t *lock = malloc(sizeof *lock);
  make_one(lock), wait_for(lock), pthread_mutex_destroy(lock);
  make_other(lock), wait_for(lock);
  make_other(lock), wait_for(lock), pthread_mutex_destroy(lock);
  *lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  wait_for(lock);
  return 0;
}
END
lives() { rows waits "$1" "sorted((r['created_at'].split('(')[1], r['wait_count']) for r in rows if r['type'] == 'Mutex')"; }
each="[('make_one)', '1'), ('make_other)', '1'), ('make_other)', '1'), ('take)', '1')]"
profile made ./lives
expect_eq "objects at one address" "$(lives made)" "$each"
expect_eq "of one address" "$(rows waits made "len({r['object'].split()[1] for r in rows if r['type'] == 'Mutex'})")" 1
expect_match <(rows waits made "[r['created_at'] for r in rows if r['type'] == 'Mutex']") '^.*:3 \(make_one\)'
expect_eq "the same, from the decoded profile" "$(lives made)" "$each"

# Made too often for each to be recorded: what is not known to be the object that was made there before has no place; one made before,
# in another place, keeps its own.
build crowded -I"$root" <<'END'
#include "test/programs/wait_for.h"
static pthread_mutex_t locks[3], other;
static void make_early(pthread_mutex_t *lock) { pthread_mutex_init(lock, NULL); }
static void make_late(pthread_mutex_t *lock) { pthread_mutex_init(lock, NULL); }
int main(void) {
  for (int i = 0; i < 3; ++i) make_early(&locks[i]);
  wait_for(&locks[0]);
  for (int i = 0; i < 20000; ++i) pthread_mutex_init(&other, NULL), pthread_mutex_destroy(&other);
  pthread_mutex_destroy(&locks[0]);
  make_late(&locks[0]), wait_for(&locks[0]);
  pthread_mutex_destroy(&locks[1]);
  locks[1] = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  wait_for(&locks[1]);
  wait_for(&locks[2]);
  return 0;
}
END
profile many ./crowded
expect_eq "places of objects of which too many were made" "$(rows waits many "sorted((r['created_at'].split('(')[1], r['wait_count']) for r in rows if r['type'] == 'Mutex')")" \
  "[('make_early)', '1'), ('make_early)', '1'), ('take)', '1'), ('take)', '1')]"

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
# A function that only waits occurs in the profile, and what shows it is named.
build naps <<'P'
#include <unistd.h>
__attribute__((noinline)) void nap(void) { usleep(50000); }
int main(void) {
  nap();
  for (volatile long i = 0; i < 100000000; ++i) {}
}
P
# One run in some hundreds has a tick in the few microseconds that nap runs, and so has time in it: that says nothing here.
for try in 1 2 3; do
  profile napped ./naps
  report callers nap napped
  [ $code = 0 ] || break
done
expect_eq "exit code" $code 1
expect_match err "'nap' has no time in this profile; --metric wait has where it waits"
report callers nap napped --metric wait
expect_eq "exit code" $code 0
expect_match out 'nap'

# Who lets others go on is told although the waits of a process are more than it may tell: those who sleep with the lock took the
# last allowance for that, and three fifths of the time had no holder.
build crowd -pthread <<'P'
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void* take_turns(void* until) {
  while (time(NULL) < *(time_t*)until) {
    pthread_mutex_lock(&lock);
    usleep(500);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 3; ++i) usleep(500);
  }
  return NULL;
}
int main(void) {
  time_t until = time(NULL) + 3;
  pthread_t threads[20];
  for (int i = 0; i < 20; ++i) pthread_create(&threads[i], NULL, take_turns, &until);
  for (int i = 0; i < 20; ++i) pthread_join(threads[i], NULL);
  return 0;
}
P
profile crowded ./crowd
report waits --format json --limit 0 crowded
python3 - <<'P' || fail "holders of a lock of twenty: $(cat out | head -c 300)"
import json, sys
view = json.load(open("out"))
waited = sum(row["wait_ns"] for row in view["waits"] if row["object"] == "Mutex lock")
caused = sum(row["caused_ns"] for row in view["holders"] if row["object"] == "Mutex lock" and row["thread"] and row["thread"][0] != "[")
sys.exit(not (waited > 10e9 and caused > 0.8 * waited))
P

record --waits min=2h true
expect_eq "exit code" $code 2
expect_match err "out of range"
record --waits often true
expect_match err "is not on, off or min=TIME"
