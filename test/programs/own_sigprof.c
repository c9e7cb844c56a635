// SPDX-License-Identifier: MIT
// own_sigprof KIND [MS]: a program that has plans of its own for SIGPROF and for signal masks. It works while
// it does so and prints what it saw. Context: test 50.
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>

#include "work.h"

static volatile sig_atomic_t seen, foreign;
static uint64_t x = 19, steps;

static void on_prof(int signal, siginfo_t* info, void* context) {
  ++seen;
  foreign += signal != SIGPROF || info == NULL || context == NULL;
}
static void work(void) { SPIN(x, steps); }

/// Its own profiling timer: 20 ms of CPU time, so work of some 200 ms must see several.
static void itimer(void) {
  struct sigaction action = {.sa_sigaction = on_prof, .sa_flags = SA_SIGINFO | SA_RESTART}, now;
  sigaction(SIGPROF, &action, NULL);
  setitimer(ITIMER_PROF, &(struct itimerval){{0, 20000}, {0, 20000}}, NULL);
  work();
  setitimer(ITIMER_PROF, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
  sigaction(SIGPROF, NULL, &now);
  printf("{\"several\": %d, \"foreign\": %d, \"mine\": %d}\n", seen >= 3, (int)foreign,
         now.sa_sigaction == on_prof);
}
static void raised(void) {
  signal(SIGPROF, SIG_IGN);
  raise(SIGPROF);
  struct sigaction action = {.sa_sigaction = on_prof, .sa_flags = SA_SIGINFO};
  sigaction(SIGPROF, &action, NULL);
  work();
  for (int i = 0; i < 5; ++i) raise(SIGPROF);
  printf("{\"seen\": %d}\n", (int)seen);
}
static void ignored(void) {
  struct sigaction now;
  sigaction(SIGPROF, NULL, &now);
  work();
  printf("{\"ignored\": %d, \"default\": %d}\n", now.sa_handler == SIG_IGN, now.sa_handler == SIG_DFL);
}
static void* blocked_thread(void* unused) {
  work();
  return unused;
}
static void blocked(void) {
  sigset_t all;
  pthread_t thread;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  pthread_create(&thread, NULL, blocked_thread, NULL);
  work();
  pthread_join(thread, NULL);
  printf("{}\n");
}
static int waited;
static void* waits(void* unused) {
  sigset_t all;
  int number = 0;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  for (int i = 0; i < 3; ++i) {
    work();
    if (sigwait(&all, &number)) break;
    printf("sigwait %d\n", number);
    __atomic_fetch_add(&waited, 1, __ATOMIC_RELEASE);
  }
  return unused;
}
/// One signal at a time, sent while the thread works or waits.
static void wait_for_signals(void) {
  sigset_t all;
  pthread_t thread;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  pthread_create(&thread, NULL, waits, NULL);
  for (int i = 0; i < 3; ++i) {
    pthread_kill(thread, i & 1 ? SIGUSR2 : SIGUSR1);
    while (__atomic_load_n(&waited, __ATOMIC_ACQUIRE) <= i) usleep(1000);
  }
  pthread_join(thread, NULL);
}
static void read_signals(void) {
  sigset_t all;
  struct signalfd_siginfo info;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  int fd = signalfd(-1, &all, 0);
  for (int i = 0; i < 3; ++i) {
    work();
    raise(SIGUSR2);
    if (read(fd, &info, sizeof info) == sizeof info) printf("signalfd %u\n", info.ssi_signo);
  }
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  steps = number_argument(argc, argv, 2, 200) * STEPS_PER_MS;
  struct {
    const char* name;
    void (*run)(void);
  } kinds[] = {{"itimer", itimer},
               {"raised", raised},
               {"ignored", ignored},
               {"blocked", blocked},
               {"sigwait", wait_for_signals},
               {"signalfd", read_signals}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (!strcmp(kind, kinds[i].name)) kinds[i].run();
}
