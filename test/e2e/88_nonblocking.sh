#!/bin/bash
# SPDX-License-Identifier: MIT
# Calls on sockets that never wait are passed by; those that wait are seen at once where the same number becomes one that
# does, whichever way it did.
# calm
. "$(dirname "$0")/agent.inc"

build sockets -lpthread <<'P'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int ends[2];
static uint64_t waited_ns;
static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
static void make(int flags) {
  if (socketpair(AF_UNIX, SOCK_STREAM | flags, 0, ends)) abort();
}
static void by_fcntl(void) { fcntl(ends[0], F_SETFL, 0); }
static void by_ioctl(void) { ioctl(ends[0], FIONBIO, &(int){0}); }
static void by_close(void) {
  int number = ends[0];
  close(ends[0]), close(ends[1]), make(0);
  if (ends[0] != number) abort();
}
static void replace(int (*copy)(int, int)) {
  int last[2] = {ends[0], ends[1]};
  make(0);
  int other = ends[0];
  if (copy(other, last[0]) != last[0]) abort();
  close(other), close(last[1]);
  ends[0] = last[0];
}
static int copy_on_exec(int from, int to) { return dup3(from, to, O_CLOEXEC); }
static void by_dup2(void) { replace(dup2); }
static void by_dup3(void) { replace(copy_on_exec); }

static void* write_later(void* none) {
  nanosleep(&(struct timespec){0, 40000000}, 0);
  if (write(ends[1], "", 1) != 1) abort();
  return none;
}
__attribute__((noinline)) void reads_often(void) {
  char byte;
  for (int i = 0; i < 2000; ++i)
    if (write(ends[1], "", 1) != 1 || read(ends[0], &byte, 1) != 1) abort();
}
__attribute__((noinline)) void waits(void) {
  char byte;
  uint64_t begin = now();
  if (read(ends[0], &byte, 1) != 1) abort();
  waited_ns += now() - begin;
}
int main(void) {
  void (*const ways[])(void) = {by_fcntl, by_ioctl, by_close, by_dup2, by_dup3};
  for (int i = 0; i < 5; ++i) {
    pthread_t writer;
    make(SOCK_NONBLOCK);
    reads_often();
    if (pthread_create(&writer, 0, write_later, 0)) abort();
    ways[i]();
    waits();
    pthread_join(writer, 0);
    close(ends[0]), close(ends[1]);
  }
  printf("{\"waited_ns\": %lu}\n", waited_ns);
}
P

# Without the observer, which sees from outside what a hook has missed.
run_states=off
profile waits ./sockets
holds "each wait is there" "$(rows waits waits "sum(n(r, 'wait_count') for r in rows if r['function'] == 'waits')" --by function) == 5"
holds "for its time" "abs($(rows waits waits "sum(n(r, 'wait_ns') for r in rows if r['function'] == 'waits')" --by function) / $(truth waited_ns) - 1) < 0.1"
