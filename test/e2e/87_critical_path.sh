#!/bin/bash
# SPDX-License-Identifier: MIT
# The critical path of a program that re-enacts the example by which the classes were defined, events E0 to E12 of three threads
# (Clay P. Breshears, Using Intel Thread Profiler: Philosophy and Theory), against its own clock; and what the report says of it by
# function, thread and object.
# alone
. "$(dirname "$0")/agent.inc"

build example -lpthread <<'P'
// T1 makes T2 and T3 (E1), which begin (E2), and waits for both (E3). T2 has lock L until E5; T3 wants it at E4 and has it at E6. T3
// sleeps from E7 to E8. T2 ends at E9, so that T1 waits for T3, which ends at E10. T1 goes on at E11, until E12. Everybody else works, until the time of the event.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
enum { kEvents = 13 };
static uint64_t e[kEvents], begin2, start, slice;
static pthread_mutex_t L = PTHREAD_MUTEX_INITIALIZER;
static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
static uint64_t due(int event) { return start + (uint64_t)event * slice; }
#define WORK(name)                                                                               \
  __attribute__((noinline, noclone)) void name(int event) {                                      \
    while (now() < due(event)) continue;                                                         \
    if (event != 9) e[event] = now();                                                            \
    __asm__ volatile("" ::"r"(#name));                                                           \
  }
WORK(work_of_t1)
WORK(work_of_t2)
WORK(work_of_t3)
static void* t2(void* none) {
  begin2 = now();
  prctl(PR_SET_NAME, "T2");
  pthread_mutex_lock(&L);
  work_of_t2(5);
  pthread_mutex_unlock(&L);
  work_of_t2(9);
  return none;
}
static void* t3(void* none) {
  prctl(PR_SET_NAME, "T3");
  work_of_t3(4);
  pthread_mutex_lock(&L);
  e[6] = now();
  pthread_mutex_unlock(&L);
  work_of_t3(7);
  struct timespec until = {(time_t)(due(8) / 1000000000u), (long)(due(8) % 1000000000u)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0);
  e[8] = now();
  work_of_t3(10);
  return none;
}
int main(int argc, char** argv) {
  slice = (argc > 1 ? strtoull(argv[1], 0, 10) : 40) * 1000000u;
  prctl(PR_SET_NAME, "T1");
  e[0] = start = now();
  pthread_t second, third;
  work_of_t1(1);
  pthread_create(&second, 0, t2, 0);
  pthread_create(&third, 0, t3, 0);
  work_of_t1(3);
  pthread_join(second, 0);
  e[9] = now();  // it may have to wait for a processor before it can wait for T3
  pthread_join(third, 0);
  e[11] = now();
  work_of_t1(12);
  e[2] = begin2;
  printf("{\"events\": [");
  for (int i = 0; i < kEvents; ++i) printf("%s%llu", i ? ", " : "", (unsigned long long)e[i]);
  printf("]}\n");
  return 0;
}
P

cat >compare.py <<'P'
"""out is what the program said of itself; segments.json, the report."""
import json, sys
e = json.loads(open("out").readlines()[-1])["events"]
report = json.load(open("segments.json"))
wanted = [  # thread, class, first and last event, levels between one event and the next
    ("T1", "Cruise", 0, 1, [1]), ("T2", "Overhead", 1, 2, None), ("T2", "Cruise", 2, 4, [3, 2]), ("T2", "Impact", 4, 5, [1]),
    ("T3", "Overhead", 5, 6, None), ("T3", "Cruise", 6, 7, [2]), ("T3", "Blocking", 7, 8, [1]), ("T3", "Cruise", 8, 9, [2]),
    ("T3", "Impact", 9, 10, [1]), ("T1", "Overhead", 10, 11, None), ("T1", "Cruise", 11, 12, [1])]
tids = {row["tid"]: row["name"] for row in json.load(open("threads.json"))["threads"] if row["tid"]}
segments = [s for s in report["segments"] if s["tid"]]
def join(rows):
    """Before and after main() T1 may wait for a file, of which the program knows nothing."""
    while len(rows) > 1 and all(tids[s["tid"]] == "T1" and s["class"] in ("Cruise", "Blocking") for s in rows[:2]):
        rows[:2] = [dict(rows[0], **{"class": "Cruise", "length_ns": rows[0]["length_ns"] + rows[1]["length_ns"]})]
    return rows
segments = join(join(segments)[::-1])[::-1]
got = [(tids[s["tid"]], s["class"]) for s in segments]
assert got == [w[:2] for w in wanted], "path: %s" % got
assert sum(s["length_ns"] for s in segments) == report["elapsed_ns"], "the segments are not the run"
bad = []
for s, (name, what, first, last, levels) in zip(segments, wanted):
    length, slices = e[last] - e[first], [e[i + 1] - e[i] for i in range(first, last)]
    off = s["length_ns"] - length
    # The run begins before main() and ends after it.
    if (off < 0 or last not in (1, 12)) and abs(off) > 0.03 * length + 1e6:
        bad.append("E%d-E%d: %.3f ms, the program says %.3f" % (first, last, s["length_ns"] / 1e6, length / 1e6))
    if levels is None or report["source"] != "switches": continue
    level = sum(l * t for l, t in zip(levels, slices)) / length
    if last not in (1, 12) and abs(s["level"] - level) > 0.03 * level + 1e6 / length * 2:
        bad.append("E%d-E%d: level %.3f instead of %.3f" % (first, last, s["level"], level))
print("\n".join(bad))
sys.exit(bool(bad))
P

sources=${sources:-"switches sweeps"}
example() {  # example FACTOR
  rm -rf p
  record -q -o p --run-states $source ./example $((40 * $1))
  [ $code = 0 ] || broken "exit code of the example is $code$(show)"
  "$VARVE" report critical-path --format json p >segments.json || fail "report critical-path"
  "$VARVE" report threads --format json p >threads.json || fail "report threads"
  python3 compare.py >differences 2>&1 && return
  cat differences
  return 1
}
for source in $sources; do
  [ $source = sweeps ] || can switches --run-states switches || continue
  more_work example
  # The sums are those of the path: all of the run, by threads and functions; and who delayed whom.
  elapsed=$(python3 -c 'import json; print(json.load(open("segments.json"))["elapsed_ns"])')
  for by in function thread; do
    expect_eq "time of the path by $by" "$(rows critical-path p 'sum(n(r, "path_ns") for r in rows)' --by $by)" $elapsed
  done
  expect_eq "what moved the path" "$(rows critical-path p 'sorted(r["object"].split()[0] for r in rows if n(r, "moves"))' --by object)" \
    "['Mutex', 'Thread', '[thread']"
  report critical-path --by object p
  expect_match out 'T2 +T3 +Mutex L'
  report critical-path --by function --format csv p
  expect_match out '^work_of_t2,example,'
  # Of the filters only --time cuts, and what it cuts is told.
  report critical-path --thread T2 p
  expect_match out 'of the filters only --time'
  expect_eq "time of a part and the rest" "$(rows critical-path p 'sum(n(r, "length_ns") for r in rows)' --time 0.1-0.2 --limit 3)" $elapsed
done

# Through pipes, between threads and processes; what the C library's streams write no hook sees, but whose output the pipe was.
build pipes -lpthread <<'P'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static int first[2], second[2];
static char much[100000];  // more than a pipe holds, so that who writes it waits, too
static void work(int ms) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}
static void *maker(void *none) {
  prctl(PR_SET_NAME, "maker");
  work(100);
  return write(first[1], much, sizeof much) == sizeof much ? none : 0;
}
static int by_hand(void) {
  char c;
  pthread_t thread;
  if (pipe(first) || pipe(second)) return 2;
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_NAME, "filter");
    if (read(first[0], &c, 1) != 1) _exit(2);
    usleep(5000);
    for (size_t left = sizeof much - 1; left; left -= read(first[0], much, left)) continue;
    work(80);
    _exit(write(second[1], "y", 1) != 1);
  }
  pthread_create(&thread, 0, maker, 0);
  if (read(second[0], &c, 1) != 1) return 2;
  work(60);
  pthread_join(thread, 0);
  return waitpid(child, 0, 0) != child;
}
static int by_streams(void) { return work(100), prctl(PR_SET_NAME, "source"), puts("x") < 0; }
static int reader(void) {
  char text[8];
  prctl(PR_SET_NAME, "sink");
  while (read(0, text, sizeof text) > 0) continue;
  return work(50), 0;
}
static int stream_reader(void) {
  char text[8];
  prctl(PR_SET_NAME, "drain");
  while (fgets(text, sizeof text, stdin)) continue;
  return work(50), 0;
}
int main(int argc, char **argv) {
  if (argc < 2) return by_hand();
  return !strcmp(argv[1], "source") ? by_streams() : !strcmp(argv[1], "drain") ? stream_reader() : reader();
}
P
# path_of PROFILE: who is on the path for over 30 ms, by its last segment: on a busy machine it has many. But for the shell, which begins
# the run and ends it, and takes longer for that where it has to wait for a processor. Those that it forks have its name at first.
path_of() {
  local shells=$(rows threads $1 "{r['tid'] for r in rows} - {r['tid'] for r in rows if r['name'] != 'sh'}")
  local names=$(rows threads $1 "{r['tid']: r['name'] for r in rows if r['tid'] and r['name'] != 'sh'}")
  rows critical-path $1 "[$names.get(tid) for tid in reversed(dict.fromkeys(r['tid'] for r in reversed(rows))) if tid not in ($shells or ()) and sum(n(r, 'length_ns') for r in rows if r['tid'] == tid) > 30e6]"
}
profile piped ./pipes
expect_eq "the path through pipes" "$(path_of piped)" "['maker', 'filter', 'pipes']"
expect_eq "who ended the waits for pipes" "$(rows waits piped "[r['top_holder'].split(':')[0] for r in rows if r['object'].startswith('Pipe') and n(r, 'wait_ns') > 20e6]")" \
  "['filter', 'maker']"
profile streams sh -c './pipes source | ./pipes sink'
expect_eq "the path through streams" "$(path_of streams)" "['source', 'sink']"
profile drained sh -c './pipes source | ./pipes drain'
expect_eq "the path through streams at both ends" "$(path_of drained)" "['source', 'drain']"
expect_eq "the kind of what is read by streams" "$(rows waits drained "[r['object'].split()[0] for r in rows if r['type'] == 'Stream' and n(r, 'wait_ns') > 20e6]")" \
  "['Pipe']"

# Who signals a condition and keeps its mutex; and who writes to what another finds by epoll_wait.
build others -lpthread <<'P'
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready, ends[2];
static void work(int ms) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}
static void *keeper(void *none) {
  prctl(PR_SET_NAME, "keeper");
  work(50);
  pthread_mutex_lock(&m);
  ready = 1;
  pthread_cond_signal(&c);
  work(100);
  return pthread_mutex_unlock(&m), none;
}
static void *sender(void *none) {
  prctl(PR_SET_NAME, "sender");
  work(100);
  return write(ends[1], "x", 1) == 1 ? none : ends;
}
static int by_condition(void) {
  pthread_mutex_lock(&m);
  while (!ready) pthread_cond_wait(&c, &m);
  return pthread_mutex_unlock(&m);
}
static int by_epoll(void) {
  // What is given with it is no descriptor: nothing but the call that added it says which it is.
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = &ready};
  char got;
  int epoll = epoll_create1(0);
  return epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) || epoll_wait(epoll, &event, 1, -1) != 1 || read(ends[0], &got, 1) != 1;
}
int main(int argc, char **argv) {
  const int epoll = argc > 1 && !strcmp(argv[1], "epoll");
  pthread_t thread;
  prctl(PR_SET_NAME, "waiter");
  if (epoll && pipe(ends)) return 2;
  pthread_create(&thread, 0, epoll ? sender : keeper, 0);
  const int bad = epoll ? by_epoll() : by_condition();
  work(60);
  return pthread_join(thread, 0) || bad;
}
P
profile kept ./others
expect_eq "the path past a signal under the mutex" "$(path_of kept)" "['keeper', 'waiter']"
profile found ./others epoll
expect_eq "the path through epoll_wait" "$(path_of found)" "['sender', 'waiter']"

# Without waits nobody can say for whom T1 waited, and the report says so.
record -q -o off --waits off ./example 10
report critical-path off
expect_match out 'Waits were not recorded'

# Without run states no band is known, and no length is drawn as if it were Idle.
record -q -o unobserved --run-states off ./example 10
report critical-path unobserved
expect_match out 'not observed'
expect_no_match out ' \.\.\.'

# Recording stops before the program does: who waits then waits until then, and work is no more than was done.
build stays_quiet -lpthread <<'P'
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static void *waits(void *unused) {
  pthread_mutex_lock(&m);
  for (;;) pthread_cond_wait(&never, &m);
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, waits, 0);
  for (int i = 0; i < 18; ++i) poll(0, 0, 100);
  return 0;
}
P
on_path() { python3 -c 'import json, sys; print(json.load(open("out"))[sys.argv[1]])' "$1"; }
until_stop() {
  local command=("$work/stays_quiet") elapsed waited worked
  [ "$1" = quiet ] || command=("$1" 1.8)
  record -q -o stopped --duration 1s "${command[@]}"
  report critical-path --format json stopped
  waited=$(on_path blocking_ns) elapsed=$(on_path elapsed_ns)
  worked=$(rows threads stopped 'sum(n(r, "cpu_ns") + n(r, "inactive_ns") for r in rows)')
  holds "Blocking of $1 until the stop" "$elapsed - $worked - 0.05e9 <= $waited <= $elapsed"
  report critical-path stopped
  expect_no_match out 'not observed'
}
at_once until_stop quiet sleep
