// SPDX-License-Identifier: MIT
// flags: -D_GNU_SOURCE
// masked_waits MS [THREADS]: a blocked signal is pending, and a call lets it in for its time: it ends with EINTR, and the handler has
// run, once, with the mask of the call. For as long as MS of CPU time a call; prints how often it was otherwise. Then two of a signal
// are pending, whose handler blocks everything and works for long: each call handles one. With THREADS there is another thread, and the
// C library makes these calls in another way. Context: test 66_masked_waits.
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static long cpu_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

enum { QUEUED = 40 };
static volatile int calls;
static volatile int lets_none;  // of what the call blocks
static void note(int number) {
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, NULL, &now);
  ++calls;
  lets_none += sigismember(&now, SIGALRM);
  for (const long end = cpu_us() + 3000; number == QUEUED && cpu_us() < end;) continue;
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
static int waits_exactly(const sigset_t* set) {
  struct epoll_event event;
  return epoll_pwait2(events, &event, 1, &kLimit, set);
}
static const struct Call {
  const char* name;
  int (*call)(const sigset_t* set);
} kCalls[] = {{"sigsuspend", suspends},
              {"ppoll", polls},
              {"pselect", selects},
              {"epoll_pwait", waits},
              {"epoll_pwait2", waits_exactly}};

static sigset_t mask_of_call;
static int is_odd(const struct Call* call) {
  calls = lets_none = 0;
  const int result = call->call(&mask_of_call);
  return result != -1 || errno != EINTR || calls != 1 || lets_none != 1;
}
// SIGWINCH comes behind SIGPROF where both are the thread's, what the process is sent behind either.
static void send(int which) {
  if (which)
    raise(SIGWINCH);
  else
    kill(getpid(), SIGUSR2);
}
static void one_is_pending(const struct Call* call, long us) {
  int odd = 0, times = 0;
  for (const long end = cpu_us() + us; cpu_us() < end; ++times) {
    send(times % 2);
    odd += is_odd(call);
  }
  printf("%s: %s, otherwise than it should %d\n", call->name, times > 100 ? "often" : "seldom", odd);
}
static void two_are_pending(const struct Call* call) {
  int odd = 0;
  for (int i = 0; i < 10; ++i) {
    raise(QUEUED);
    raise(QUEUED);
    for (int j = 0; j < 2; ++j) {
      int is = 0;
      do is = is_odd(call);
      while (calls == 0);  // a tick that came first: varve-safety(7)
      odd += is;
    }
  }
  printf("%s: two of a signal, otherwise than they should %d\n", call->name, odd);
}

static void* sleeps(void* unused) {
  for (;;) pause();
  return unused;
}

int main(int argc, char** argv) {
  static const int kSignals[] = {SIGUSR2, SIGWINCH, QUEUED};
  sigset_t own;
  sigemptyset(&own);
  sigemptyset(&mask_of_call);
  sigaddset(&mask_of_call, SIGALRM);
  for (int i = 0; i < 3; ++i) sigaddset(&own, kSignals[i]);
  sigprocmask(SIG_BLOCK, &own, NULL);
  pthread_t other;
  if (argc > 2 && pthread_create(&other, NULL, sleeps, NULL) != 0) return 1;
  struct sigaction action = {.sa_handler = note};
  for (int i = 0; i < 2; ++i) sigaction(kSignals[i], &action, NULL);
  // As crash reporters have it. From handlers of faults ticks are held back: varve-safety(7).
  sigaction(SIGSEGV, &(struct sigaction){.sa_handler = note, .sa_flags = SA_ONSTACK}, NULL);
  events = epoll_create1(0);
  const int count = sizeof kCalls / sizeof *kCalls;
  for (int i = 0; i < count; ++i) one_is_pending(&kCalls[i], argc > 1 ? atol(argv[1]) * 1000 : 100000);
  sigfillset(&action.sa_mask);
  sigdelset(&action.sa_mask, SIGINT);
  sigaction(QUEUED, &action, NULL);
  for (int i = 0; i < count; ++i) two_are_pending(&kCalls[i]);
  return 0;
}
