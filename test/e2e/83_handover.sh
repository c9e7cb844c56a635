#!/bin/bash
# SPDX-License-Identifier: MIT
# Two threads hand work to each other, so that only for moments both run: CPU time of functions in a band is no more than the levels of
# that band have. Ticks that meet a thread within the system call that wakes the other one are told after it.
# alone
. "$(dirname "$0")/agent.inc"
can switches --run-states switches || exit 0

build hand_over -lpthread <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
static sem_t turn[2];
static long end_ns;
static long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}
static void* hand_over(void* which) {
  const long me = (long)which;
  while (now_ns() < end_ns) {
    sem_wait(&turn[me]);
    for (const long until = now_ns() + 30000; now_ns() < until;) continue;
    sem_post(&turn[!me]);
  }
  sem_post(&turn[!me]);
  return 0;
}
int main(int argc, char** argv) {
  pthread_t other;
  end_ns = now_ns() + atol(argv[1]) * 1000000;
  sem_init(&turn[0], 0, 1), sem_init(&turn[1], 0, 0);
  pthread_create(&other, 0, hand_over, (void*)1);
  hand_over(0);
  return pthread_join(other, 0);
}
C

# Standard errors of as many samples as there should be; below, nothing is wrong: a thread that is ready is in levels, too.
bands_add_up() {
  rm -rf p
  record -q --timer cpu --interval 4ms --run-states switches -o p ./hand_over $((2000 * $1))
  [ $code = 0 ] || broken "exit code is $code$(show)"
  "$VARVE" report concurrency --target 2 --format json p >concurrency.json || fail "report concurrency"
  "$VARVE" report hotspots --target 2 --limit 0 --format csv p >hotspots.csv || fail "report hotspots"
  python3 - <<'P' || fail "CPU time by band: $(cat bands)"
import csv, json, sys
levels, functions = json.load(open("concurrency.json"))["levels"], list(csv.DictReader(open("hotspots.csv")))
with open("bands", "w") as out:
    errors = []
    for band in ("Poor", "Ideal"):
        found = sum(int(row[f"{band.lower()}_ns"]) for row in functions)
        most = sum(row["level"] * row["elapsed_ns"] for row in levels if row["band"] == band)
        errors.append((found - most) / (4e6 * max(found, most, 4e6)) ** 0.5)
        print(band, found, most, errors[-1], file=out)
sys.exit(max(errors) >= 4)
P
}
more_work bands_add_up
