// SPDX-License-Identifier: MIT
// flags: -D_GNU_SOURCE -Wno-deprecated-declarations
// handler_answers KIND: what programs are told of their handlers, masks and alternate stacks, by the C library
// and past it, and what they find blocked. Context: test 66_handler_stacks.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "handlers.h"

static const int kNumbers[] = {SIGUSR1, SIGUSR2, SIGPROF, SIGTRAP, SIGALRM, 40, SIGSEGV};
enum { COUNT = sizeof kNumbers / sizeof *kNumbers };

static volatile int calls;
static void note(int number) { calls += number != 0; }

// --- who has read our handler past the C library: chains to it, by a call, and puts it back
struct of_kernel {
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  void* restorer;
  uint64_t mask;
};
static struct of_kernel chained;
static volatile int before_call, after_call;
static void chain(int number, siginfo_t* info, void* context) {
  const int is_tick = info->si_code != SI_TKILL;
  before_call += !is_tick;
  chained.handler(number, info, context);
  after_call += !is_tick;
}
static void chain_copy(int number, siginfo_t* info, void* context) {
  ucontext_t copy = *(ucontext_t*)context;
  siginfo_t same = *info;
  chain(number, &same, &copy);
}
static void chains(void) {
  static const int kChained[] = {SIGUSR1, SIGPROF};
  for (int i = 0; i < 4; ++i) {
    const int number = kChained[i % 2];
    handle(number, note, SA_ONSTACK);
    syscall(SYS_rt_sigaction, number, NULL, &chained, 8);
    struct of_kernel outer = chained;
    outer.handler = i < 2 ? chain : chain_copy;
    outer.flags |= SA_SIGINFO;
    syscall(SYS_rt_sigaction, number, &outer, NULL, 8);
    for (int j = 0; j < 5; ++j) raise(number);
    const struct sigaction put_back = {.sa_sigaction = chained.handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(number, &put_back, NULL);
    raise(number);
  }
  printf("calls %d, before %d, after %d\n", calls, before_call, after_call);
}

// --- what is blocked in a handler, and in the waits that set a mask for their time
static volatile unsigned long seen_mask;
static void note_mask(int number) {
  sigset_t now;
  (void)number;
  pthread_sigmask(SIG_BLOCK, NULL, &now);
  seen_mask = now.__val[0];
}
static void masks(void) {
  static const int kFlags[] = {0, SA_ONSTACK, SA_ONSTACK | SA_NODEFER, SA_ONSTACK | (int)SA_RESETHAND};
  static const int kSignals[] = {SIGUSR1, SIGSEGV, SIGPROF};
  sigset_t before, one;
  sigemptyset(&one);
  sigaddset(&one, SIGALRM);
  for (int i = 0; i < 12; ++i) {
    struct sigaction action = {.sa_handler = note_mask, .sa_flags = kFlags[i % 4]};
    sigaddset(&action.sa_mask, SIGUSR2);
    sigaction(kSignals[i / 4], &action, NULL);
    work_ms(2);
    raise(kSignals[i / 4]);
    sigprocmask(SIG_BLOCK, NULL, &before);
    // From handlers of faults ticks are held back: varve-safety(7) says so.
    if (kSignals[i / 4] == SIGSEGV) seen_mask &= ~(1ul << (SIGPROF - 1) | 1ul << (SIGTRAP - 1));
    printf("%d %x: %lx, then %lx", kSignals[i / 4], (unsigned)kFlags[i % 4], seen_mask, before.__val[0]);
    if (kSignals[i / 4] == SIGUSR1) {
      sigaction(SIGUSR1, &action, NULL);
      sigset_t own;
      sigemptyset(&own);
      sigaddset(&own, SIGUSR1);
      sigprocmask(SIG_BLOCK, &own, NULL);
      raise(SIGUSR1);
      sigsuspend(&one);
      printf(", in sigsuspend %lx", seen_mask);
      sigprocmask(SIG_UNBLOCK, &own, NULL);
    }
    puts("");
  }
  puts("done");
}

// --- a stack that is given by the handler itself, and what the program is told
static void give(int number) {
  static char alternate[65536];
  stack_t before;
  const int asked = sigaltstack(NULL, &before);
  const int given = sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = sizeof alternate}, NULL);
  printf("signal %d: asked %d, disabled %d, in use %d, given %d %d\n", number, asked,
         before.ss_flags & SS_DISABLE, before.ss_flags & SS_ONSTACK, given, given ? errno : 0);
}
static void told(void) {
  struct sigaction now;
  handle(SIGUSR1, give, SA_ONSTACK);
  raise(SIGUSR1);
  stack_t after;
  sigaltstack(NULL, &after);
  printf("after the handler: disabled %d\n", after.ss_flags & SS_DISABLE);
  sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
  for (int i = 0; i < COUNT; ++i) {
    struct sigaction once = {.sa_handler = note,
                             .sa_flags = SA_ONSTACK | SA_NODEFER | (int)SA_RESETHAND};
    if (i % 3) sigfillset(&once.sa_mask);
    sigaction(kNumbers[i], &once, NULL);
    sigaction(kNumbers[i], NULL, &now);
    printf("%d: handler %d, flags %x, mask %lx", kNumbers[i], now.sa_handler == note,
           (unsigned)now.sa_flags, now.sa_mask.__val[0]);
    raise(kNumbers[i]);
    sigaction(kNumbers[i], NULL, &now);
    printf(", then %d %x %lx", now.sa_handler == SIG_DFL, (unsigned)now.sa_flags, now.sa_mask.__val[0]);
    handle(kNumbers[i], give, SA_ONSTACK);
    sigaction(kNumbers[i], &(struct sigaction){.sa_handler = note}, &now);
    printf(", before %d %x", now.sa_handler == give, (unsigned)now.sa_flags);
    handle(kNumbers[i], give, SA_ONSTACK);
    siginterrupt(kNumbers[i], 0);
    printf(", by signal() %d\n", signal(kNumbers[i], SIG_IGN) == give);
  }
  fflush(stdout);
  handle(SIGUSR2, note, SA_ONSTACK);
  if (vfork() == 0) {
    sigaction(SIGUSR2, NULL, &now);
    const int seen = now.sa_handler == note;
    handle(SIGUSR2, give, SA_ONSTACK);
    sigaction(SIGUSR2, NULL, &now);
    _exit(seen + 2 * (now.sa_handler == give));
  }
  int status = 0;
  wait(&status);
  sigaction(SIGUSR2, NULL, &now);
  const struct sigaction giving = {.sa_handler = give, .sa_flags = SA_ONSTACK};
  const int refused = sigaction(SIGKILL, &giving, NULL);
  printf("child of vfork %d, parent %d, refused %d %d\n", WEXITSTATUS(status), now.sa_handler == note,
         refused, errno);
  raise(SIGUSR2);
}

// --- the default action, with flags that are a handler's
static void defaults(void) {
  const struct sigaction flagged = {.sa_handler = SIG_DFL, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  work_ms(20);
  sigaction(SIGUSR2, &flagged, NULL);
  sigaction(SIGPROF, &flagged, NULL);
  work_ms(20);
  int status = 0;
  const pid_t child = fork();
  if (child == 0) raise(SIGUSR2), _exit(0);
  waitpid(child, &status, 0);
  printf("child: %d\n", WTERMSIG(status));
  fflush(stdout);
  raise(SIGPROF);
}

static const struct Kind kKinds[] = {
    {"chains", chains},
    {"masks", masks},
    {"told", told},
    {"defaults", defaults},
};

int main(int argc, char** argv) { return run_kind(argc, argv, kKinds, sizeof kKinds / sizeof *kKinds); }
