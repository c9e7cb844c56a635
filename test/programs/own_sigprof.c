// SPDX-License-Identifier: MIT
// own_sigprof KIND [MS]: a program that has plans of its own for SIGPROF and for signal masks. It works while
// it does so and prints what it saw. Context: test 50.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "work.h"

static volatile sig_atomic_t seen, foreign;
static uint64_t x = 19, steps;

static void on_prof(int signal, siginfo_t* info, void* context) {
  ++seen;
  foreign += signal != SIGPROF || info == NULL || context == NULL;
}
static void work(void) { SPIN(x, steps); }

/// Its own profiling timer: 10 ms of CPU time, so work of some 140 ms must see several.
static void itimer(void) {
  struct sigaction action = {.sa_sigaction = on_prof, .sa_flags = SA_SIGINFO | SA_RESTART}, now;
  sigaction(SIGPROF, &action, NULL);
  setitimer(ITIMER_PROF, &(struct itimerval){{0, 10000}, {0, 10000}}, NULL);
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
/// Without a handler: it stays pending while blocked, is what a wait returns, and shows in no mask but the
/// program's.
static void pending(void) {
  sigset_t prof, before;
  siginfo_t info = {0};
  struct timespec soon = {0, 50000000};
  sigemptyset(&prof);
  sigaddset(&prof, SIGPROF);
  sigprocmask(SIG_BLOCK, &prof, NULL);
  kill(getpid(), SIGPROF);
  work();
  int first = sigwaitinfo(&prof, &info);
  int none = sigtimedwait(&prof, NULL, &soon), error = errno;
  raise(SIGPROF);
  int waited_for = 0, failed = sigwait(&prof, &waited_for);
  sigprocmask(SIG_UNBLOCK, &prof, &before);
  printf("{\"first\": %d, \"by_kill\": %d, \"none\": %d, \"again\": %d, \"third\": %d, \"blocked\": %d}\n",
         first, info.si_code == SI_USER, none, error == EAGAIN, failed ? -1 : waited_for,
         sigismember(&before, SIGPROF));
}
static void unblocked(void) {
  sigset_t prof;
  sigemptyset(&prof);
  sigaddset(&prof, SIGPROF);
  sigprocmask(SIG_BLOCK, &prof, NULL);
  kill(getpid(), SIGPROF);
  work();
  printf("{}\n");
  fflush(stdout);
  sigprocmask(SIG_UNBLOCK, &prof, NULL);
  printf("still here\n");
}
/// One thread waits for it, the others block it: the signal to the process is the waiter's.
static void* waits_for_prof(void* unused) {
  sigset_t prof;
  int number = 0;
  sigemptyset(&prof);
  sigaddset(&prof, SIGPROF);
  int failed = sigwait(&prof, &number);
  printf("elsewhere %d %d\n", failed, number);
  return unused;
}
static void elsewhere(void) {
  sigset_t prof;
  pthread_t thread;
  sigemptyset(&prof);
  sigaddset(&prof, SIGPROF);
  sigprocmask(SIG_BLOCK, &prof, NULL);
  pthread_create(&thread, NULL, waits_for_prof, NULL);
  work();
  kill(getpid(), SIGPROF);
  pthread_join(thread, NULL);
}
/// Sent to threads that have just been made and inherit that it is blocked: it stays pending.
static void* ends(void* unused) {
  usleep(200);
  return unused;
}
static void sent_early(void) {
  sigset_t prof;
  sigemptyset(&prof);
  sigaddset(&prof, SIGPROF);
  pthread_sigmask(SIG_BLOCK, &prof, NULL);
  work();
  for (int i = 0; i < 300; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, ends, NULL);
    pthread_kill(thread, SIGPROF);
    pthread_join(thread, NULL);
  }
  printf("still here\n");
}
/// Threads that blocked it before there was a handler do not get it.
static volatile sig_atomic_t in_others;
static pthread_t first_thread;
static void counts_others(int signal) {
  ++seen;
  in_others += signal != SIGPROF || !pthread_equal(pthread_self(), first_thread);
}
static void others_block(void) {
  sigset_t prof, before;
  pthread_t threads[2];
  sigemptyset(&prof);
  sigaddset(&prof, SIGPROF);
  first_thread = pthread_self();
  pthread_sigmask(SIG_BLOCK, &prof, &before);
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, blocked_thread, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  struct sigaction action = {.sa_handler = counts_others, .sa_flags = SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
  setitimer(ITIMER_PROF, &(struct itimerval){{0, 10000}, {0, 10000}}, NULL);
  usleep(20000);
  pthread_kill(threads[0], SIGPROF);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  work();
  setitimer(ITIMER_PROF, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
  printf("{\"several\": %d, \"in_others\": %d}\n", seen >= 3, (int)in_others);
}
/// A handler that runs with all blocked, and blocks and lets in by itself, leaves the mask as it was.
static int blocks_prof(void) {
  sigset_t now;
  sigprocmask(SIG_BLOCK, NULL, &now);
  return sigismember(&now, SIGPROF);
}
static volatile sig_atomic_t blocked_within;
static void blocks_some(int signal) {
  sigset_t some, before;
  sigemptyset(&some);
  sigaddset(&some, signal);
  sigprocmask(SIG_BLOCK, &some, &before);
  sigprocmask(SIG_SETMASK, &before, NULL);
  blocked_within = blocks_prof();
}
static void handler_mask(void) {
  struct sigaction action = {.sa_handler = blocks_some};
  sigfillset(&action.sa_mask);
  sigaction(SIGUSR1, &action, NULL);
  work();
  raise(SIGUSR1);
  printf("{\"within\": %d, \"after\": %d}\n", (int)blocked_within, blocks_prof());
  fflush(stdout);
  raise(SIGPROF);
  printf("still here\n");
}
static void mask(void) {
  work();
  printf("{\"mask\": %d}\n", blocks_prof());
}
/// Blocked across exec and posix_spawn.
extern char** environ;
static void hands_on_mask(void) {
  char* again[] = {"own_sigprof", "mask", "1", NULL};
  sigset_t prof;
  sigemptyset(&prof);
  sigaddset(&prof, SIGPROF);
  sigprocmask(SIG_BLOCK, &prof, NULL);
  work();
  pid_t child;
  if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, again, environ) == 0) waitpid(child, NULL, 0);
  execv("/proc/self/exe", again);
}
/// Ignored across exec, posix_spawn and a vfork's exec.
static void hands_on(void) {
  char* again[] = {"own_sigprof", "ignored", "1", NULL};
  signal(SIGPROF, SIG_IGN);
  work();
  pid_t child;
  if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, again, environ) == 0) waitpid(child, NULL, 0);
  child = vfork();
  if (child == 0) {
    execv("/proc/self/exe", again);
    _exit(9);
  }
  waitpid(child, NULL, 0);
  execv("/no/such/program", again);
  work();
  raise(SIGPROF);
  execv("/proc/self/exe", again);
}
/// What a fork's child finds: the default, no stack of another's, and an end by the signal.
static void forks(void) {
  struct sigaction now;
  stack_t stack;
  int status = 0;
  work();
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    sigaction(SIGPROF, NULL, &now);
    sigaltstack(NULL, &stack);
    printf("{\"default\": %d, \"flags\": %d, \"no_stack\": %d}\n", now.sa_handler == SIG_DFL, now.sa_flags,
           stack.ss_flags == SS_DISABLE);
    fflush(stdout);
    raise(SIGPROF);
    _exit(0);
  }
  waitpid(child, &status, 0);
  printf("child %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : -1);
}
/// Whether a read that blocks is interrupted by SIGPROF or goes on, as the flags say; and SA_NODEFER lets it
/// nest.
static volatile sig_atomic_t depth, deepest;
static void nests(int signal) {
  if (++depth > deepest) deepest = depth;
  if (depth < 3) raise(signal);
  --depth;
}
static void flags(void) {
  work();
  fflush(stdout);
  for (int restart = 0; restart < 2; ++restart) {
    struct sigaction action = {.sa_sigaction = on_prof, .sa_flags = SA_SIGINFO | (restart ? SA_RESTART : 0)};
    int ends[2];
    char byte = 0;
    if (pipe(ends)) return;
    sigaction(SIGPROF, &action, NULL);
    pid_t child = fork();
    if (child == 0) {
      usleep(200000);
      kill(getppid(), SIGPROF);
      usleep(200000);
      _exit(write(ends[1], "x", 1) != 1);
    }
    ssize_t got = read(ends[0], &byte, 1);
    printf("read %d %s\n", (int)got, got < 0 && errno == EINTR ? "interrupted" : "whole");
    fflush(stdout);
    waitpid(child, NULL, 0);
  }
  struct sigaction nested = {.sa_handler = nests, .sa_flags = SA_NODEFER};
  sigaction(SIGPROF, &nested, NULL);
  raise(SIGPROF);
  printf("deepest %d\n", (int)deepest);
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  steps = number_argument(argc, argv, 2, 140) * STEPS_PER_MS;
  struct {
    const char* name;
    void (*run)(void);
  } kinds[] = {{"itimer", itimer},
               {"raised", raised},
               {"ignored", ignored},
               {"blocked", blocked},
               {"sigwait", wait_for_signals},
               {"signalfd", read_signals},
               {"pending", pending},
               {"unblocked", unblocked},
               {"hands_on", hands_on},
               {"forks", forks},
               {"flags", flags},
               {"elsewhere", elsewhere},
               {"others_block", others_block},
               {"sent_early", sent_early},
               {"handler_mask", handler_mask},
               {"mask", mask},
               {"hands_on_mask", hands_on_mask}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (!strcmp(kind, kinds[i].name)) kinds[i].run();
}
