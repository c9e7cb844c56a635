#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads that the C library makes for itself (timers, asynchronous input and look-ups, message queues), signals at the end of the CPU
# time or of a parent, CPU timers of the program's own that send SIGPROF, and memory that is locked: as bare. With ticks of 1 ms.
. "$(dirname "$0")/guest.inc"

build rare -D_GNU_SOURCE -lpthread -lrt -lanl <<'C'
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile sig_atomic_t seen;
static volatile unsigned long sink;
static int fired[3], told[3];  // by the number that a notification brings: one of a deleted timer may come late
static void burn(int ms) {
  const clock_t end = clock() + ms * 1000;
  while (clock() < end)
    for (int i = 0; i < 1000; ++i) sink += i;
}
static void on(int number) { seen = number; }
static int blocks_sigprof(void) {
  sigset_t mask;
  return pthread_sigmask(SIG_BLOCK, NULL, &mask) || sigismember(&mask, SIGPROF);
}
static void fire(union sigval value) {
  const int number = value.sival_int;
  if (__atomic_add_fetch(&fired[number], 1, __ATOMIC_SEQ_CST) > 1) return;
  printf("%d: blocks SIGPROF %d\n", number, blocks_sigprof());
  __atomic_store_n(&told[number], 1, __ATOMIC_SEQ_CST);
}
static int has_fired(int number, int times) {
  return __atomic_load_n(&fired[number], __ATOMIC_SEQ_CST) >= times && __atomic_load_n(&told[number], __ATOMIC_SEQ_CST);
}
static void wait_for(int number, int times) {
  while (!has_fired(number, times)) burn(2), usleep(2000);
  printf("fired\n");
}
static void *thread(void *unused) { return burn(20), unused; }

static void at_the_end_of_cpu_time(void) {
  int status;
  const pid_t child = fork();
  if (child == 0) {
    const struct rlimit limit = {1, 2};
    signal(SIGXCPU, on);
    setrlimit(RLIMIT_CPU, &limit);
    while (!seen) burn(10);
    printf("SIGXCPU %d\n", seen == SIGXCPU), fflush(stdout);
    for (;;) burn(10);
  }
  waitpid(child, &status, 0);
  printf("end of CPU time: signal %d\n", WTERMSIG(status));
}
static void timers(void) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = fire, .sigev_value.sival_int = 1};
  const struct itimerspec often = {{0, 5000000}, {0, 5000000}};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &often, NULL)) exit(1);
  wait_for(1, 5);
  timer_delete(timer);
  event = (struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
  signal(SIGPROF, on), seen = 0;
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) || timer_settime(timer, 0, &often, NULL)) exit(2);
  while (!seen) burn(10);
  timer_delete(timer);
  printf("a CPU timer of its own: %d, then %d\n", seen == SIGPROF, signal(SIGPROF, SIG_DFL) == on);
}
static void asynchronously(void) {
  char text[64] = "";
  const int file = open("/proc/self/comm", O_RDONLY);
  struct aiocb block = {.aio_fildes = file, .aio_buf = text, .aio_nbytes = sizeof text - 1};
  const struct aiocb *list[] = {&block};
  int result = aio_read(&block);
  burn(20);
  if (!result) result = aio_suspend(list, 1, NULL);
  printf("aio %d %zd %s", result, aio_return(&block), text);
  struct gaicb name = {.ar_name = "127.0.0.1"}, *names[] = {&name};
  result = getaddrinfo_a(GAI_WAIT, names, 1, NULL);
  printf("getaddrinfo_a %d %d\n", result, gai_error(&name));
}
static void queues(void) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = fire, .sigev_value.sival_int = 2};
  struct mq_attr size = {.mq_maxmsg = 1, .mq_msgsize = 8};
  const struct timespec past = {1, 0};
  char name[32], message[8];
  snprintf(name, sizeof name, "/varve-%d", getpid());
  const mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, &size);
  if (queue < 0) return;
  mq_unlink(name);
  printf("mq_notify %d\n", mq_notify(queue, &event));
  mq_send(queue, "x", 1, 0);
  wait_for(2, 1);
  printf("mq_receive %zd\n", mq_receive(queue, message, sizeof message, NULL));
  const ssize_t got = mq_timedreceive(queue, message, sizeof message, NULL, &past);
  printf("mq_timedreceive %zd %d\n", got, errno);
}
static void with_locked_memory(void) {
  pthread_t threads[20];
  pthread_attr_t small;
  int made = 0;
  const int locked = mlockall(MCL_CURRENT | MCL_FUTURE);
  pthread_attr_init(&small), pthread_attr_setstacksize(&small, 65536);
  for (int i = 0; i < 20; ++i) made += !pthread_create(&threads[made], &small, thread, NULL);
  for (int i = 0; i < made; ++i) pthread_join(threads[i], NULL);
  munlockall();
  printf("locked %d, %d threads\n", locked, made);
}
static void at_the_end_of_a_parent(void) {
  int status, ends[2];
  char byte;
  if (pipe(ends)) exit(3);
  const pid_t child = fork();
  if (child == 0) {
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      signal(SIGTERM, on), prctl(PR_SET_PDEATHSIG, SIGTERM);
      kill(getppid(), SIGKILL);
      while (!seen) usleep(1000);
      _exit(write(ends[1], "x", 1) != 1);
    }
    for (;;) pause();
  }
  waitpid(child, &status, 0);
  printf("end of a parent: %zd, signal %d\n", read(ends[0], &byte, 1), WTERMSIG(status));
}
int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  at_the_end_of_cpu_time();
  timers();
  asynchronously();
  queues();
  with_locked_memory();
  at_the_end_of_a_parent();
  return 0;
}
C
record_options=(--interval 1ms)
same calls ./rare
expect_match out '^fired$'
ledger calls 5

# Who asks to be traced by its parent, so that no debugger can, waits at each signal for that one's word.
build traced <<'C'
#include <stdio.h>
#include <sys/ptrace.h>
#include <time.h>
int main(void) {
  const long asked = ptrace(PTRACE_TRACEME, 0, 0, 0);
  while (clock() < CLOCKS_PER_SEC / 5) continue;
  return printf("asked %ld\n", asked), 0;
}
C
for timer in auto cpu; do
  record_options=(--interval 1ms --timer $timer)
  same traced-$timer ./traced
done
