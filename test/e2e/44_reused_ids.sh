#!/bin/bash
# SPDX-License-Identifier: MIT
# Hazard 5: threads that have the number of one that ended before. Each has its own time and samples, none has another's.
. "$(dirname "$0")/agent.inc"

# The next number is asked for, in a pid namespace of its own, where nobody else takes it. Each thread says its number and its CPU time.
build reuse -I"$root" -lpthread <<'C'
#include "test/programs/work.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
static void* work(void* number) {
  uint64_t x = 7;
  while (thread_ns() < 20000000u * (1 + (uintptr_t)number % 3)) SPIN(x, 1000);
  return printf("%d %lu\n", gettid(), thread_ns()), NULL;
}
int main(void) {
  for (intptr_t i = 0; i < 12; ++i) {
    // Joined, but not gone yet; the number is free a moment later, most often.
    do usleep(2000);
    while (syscall(SYS_tgkill, getpid(), 701, 0) == 0);
    int next = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
    if (next < 0 || write(next, "700", 3) != 3 || close(next)) return 3;
    pthread_t id;
    if (pthread_create(&id, NULL, work, (void*)i) || pthread_join(id, NULL)) return 4;
  }
}
C
[ "$(id -u)" = 0 ] && unshare --pid --fork ./reuse >bare 2>/dev/null || { echo "SKIPPED: numbers cannot be asked for here"; exit 0; }
for states in switches sweeps; do
  record -q --interval 1ms --run-states $states -o $states unshare --pid --fork ./reuse
  expect_eq "exit code with $states" $code 0
  holds "threads with the same number" "$(grep -c '^701 ' out) >= 6"
  rows threads $states 'sorted(n(r, "cpu_ns") for r in rows if r["name"] == "reuse" and n(r, "samples") and n(r, "cpu_ns") > 15e6)' >seen
  python3 - seen out <<'P' || fail "threads of one number with $states: $(cat seen out)"
import ast, sys
seen = ast.literal_eval(open(sys.argv[1]).read())
truth = sorted(int(line.split()[1]) for line in open(sys.argv[2]))
sys.exit(len(seen) != len(truth) or any(abs(a - b) > 2e6 + 0.02 * b for a, b in zip(seen, truth)))
P
done
