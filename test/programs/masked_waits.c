// SPDX-License-Identifier: MIT
// flags: -D_GNU_SOURCE
// masked_waits MS [THREADS]: a blocked signal is pending, and a call lets it in for its time: it ends with EINTR, and the handler has run, with
// the mask of the call. For as long as MS of CPU time a call; prints how often it was otherwise. With THREADS there is another thread, and the C library
// makes these calls in another way. Context: test 66_masked_waits.
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>

static volatile int calls;
static volatile int lets_none;  // of what the call blocks
static void note(int number) {
  sigset_t now;
  (void)number;
  pthread_sigmask(SIG_BLOCK, NULL, &now);
  ++calls;
  lets_none += sigismember(&now, SIGALRM);
}

static int events;
static const struct timespec kLimit = {5, 0};
static int suspends(const sigset_t* set) { return sigsuspend(set); }
static int polls(const sigset_t* set) { return ppoll(NULL, 0, &kLimit, set); }
static int selects(const sigset_t* set) { return pselect(0, NULL, NULL, NULL, &kLimit, set); }
static int waits(const sigset_t* set) {
  struct epoll_event event;
  return epoll_pwait(events, &event, 1, 5000, set);
}
static const struct {
  const char* name;
  int (*call)(const sigset_t* set);
} kCalls[] = {{"sigsuspend", suspends}, {"ppoll", polls}, {"pselect", selects}, {"epoll_pwait", waits}};

static long cpu_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void* sleeps(void* unused) {
  for (;;) pause();
  return unused;
}

int main(int argc, char** argv) {
  const long ms = argc > 1 ? atol(argv[1]) : 100;
  static const int kSignals[] = {SIGUSR2, 40};
  struct sigaction action = {.sa_handler = note};
  sigset_t own, call;
  sigemptyset(&own);
  sigemptyset(&call);
  sigaddset(&call, SIGALRM);
  for (int i = 0; i < 2; ++i) sigaction(kSignals[i], &action, NULL), sigaddset(&own, kSignals[i]);
  sigprocmask(SIG_BLOCK, &own, NULL);
  pthread_t other;
  if (argc > 2 && pthread_create(&other, NULL, sleeps, NULL) != 0) return 1;
  events = epoll_create1(0);
  for (unsigned i = 0; i < sizeof kCalls / sizeof *kCalls; ++i) {
    int odd = 0, times = 0;
    for (const long end = cpu_ms() + ms; cpu_ms() < end; ++times) {
      calls = lets_none = 0;
      raise(kSignals[times % 2]);
      const int result = kCalls[i].call(&call);
      odd += result != -1 || errno != EINTR || calls != 1 || lets_none != 1;
    }
    printf("%s: %s, otherwise than it should %d\n", kCalls[i].name, times > 100 ? "often" : "seldom", odd);
  }
  return 0;
}
