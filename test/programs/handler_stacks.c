// SPDX-License-Identifier: MIT
// flags: -D_GNU_SOURCE -Wno-infinite-recursion -Wno-deprecated-declarations
// handler_stacks KIND: programs whose handlers ask for an alternate stack (SA_ONSTACK) in threads that have
// none, or that have one and do not ask. Each works meanwhile, so that ticks come, and says what it saw; those
// that overflow are to end by SIGSEGV. Context: test 66_handler_stacks.
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "work.h"

static __thread uint64_t x = 47;
static __thread char *low, *high;  // of the thread's own stack
static __thread volatile int own, elsewhere;

static void work_ms(unsigned ms) { SPIN(x, ms * STEPS_PER_MS); }
static void handle(int number, void (*handler)(int), int flags) {
  sigaction(number, &(struct sigaction){.sa_handler = handler, .sa_flags = flags}, NULL);
}
static void learn_stack(void) {
  pthread_attr_t attributes;
  void* address;
  size_t size;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &address, &size);
  pthread_attr_destroy(&attributes);
  low = address;
  high = low + size;
}
static int on_own(const void* local) { return (const char*)local >= low && (const char*)local < high; }
static void note_place(int number) {
  char here;
  if (on_own(&here))
    ++own;
  else
    ++elsewhere;
  work_ms(1);
  errno = number;
}

// --- where handlers run: signals from elsewhere and of the thread itself, within each other, over the ticks'
static const int kNumbers[] = {SIGUSR1, SIGUSR2, SIGPROF, SIGTRAP, SIGALRM, SIGSEGV};
enum { COUNT = sizeof kNumbers / sizeof *kNumbers };
static void* raise_all(void* name) {
  learn_stack();
  int errors = 0;
  for (int i = 0; i < 60; ++i) {
    work_ms(1);
    errno = 0;
    raise(kNumbers[i % COUNT]);
    errors += errno != kNumbers[i % COUNT];  // a handler's errno is the program's to see
  }
  printf("%s: own %d, elsewhere %d, errors %d\n", (const char*)name, own, elsewhere, errors);
  return NULL;
}
static void place(void) {
  pthread_t thread;
  for (int i = 0; i < COUNT; ++i) handle(kNumbers[i], note_place, SA_ONSTACK);
  raise_all("main");
  pthread_create(&thread, NULL, raise_all, "thread");
  pthread_join(thread, NULL);
}

// --- a stack of the program's: handlers that ask for it run there, others do not
static void own_stack(void) {
  static char alternate[65536];
  learn_stack();
  sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = sizeof alternate}, NULL);
  for (int i = 0; i < COUNT; ++i) handle(kNumbers[i], note_place, i % 2 ? SA_ONSTACK : 0);
  raise_all("asked by half");
  sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
  own = elsewhere = 0;
  raise_all("taken away");
}

// --- within each other, to some depth
static volatile int depth, deepest;
static void nest(int number) {
  note_place(number);
  if (++depth > deepest) deepest = depth;
  if (depth < 6) raise(depth % 2 ? SIGUSR2 : SIGPROF);
  --depth;
}
static void nested(void) {
  learn_stack();
  handle(SIGUSR2, nest, SA_ONSTACK | SA_NODEFER);
  handle(SIGPROF, nest, SA_ONSTACK | SA_NODEFER);
  for (int i = 0; i < 10; ++i) raise(SIGUSR2);
  printf("own %d, elsewhere %d, deepest %d\n", own, elsewhere, deepest);
}

// --- registers of the interrupted code, and what the handler changes of them
static void spoil(int number) {
  note_place(number);
  __asm__ volatile("vzeroall" ::: "memory");
}
static void spoil_plain(int number) {
  note_place(number);
  __asm__ volatile("pxor %%xmm5, %%xmm5\npxor %%xmm15, %%xmm15" ::: "xmm5", "xmm15");
}
static void change(int number, siginfo_t* info, void* context) {
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_RAX] = info->si_pid == getpid() ? 1000 + number : 0;
}
static void registers(void) {
  learn_stack();
  handle(SIGUSR1, __builtin_cpu_supports("avx") ? spoil : spoil_plain, SA_ONSTACK);
  const struct sigaction changing = {.sa_sigaction = change, .sa_flags = SA_ONSTACK | SA_SIGINFO};
  sigaction(SIGUSR2, &changing, NULL);
  int spoilt = 0, right = 0;
  for (long i = 0; i < 40; ++i) {
    long low_part = i * 3 + 1, high_part = i * 5 + 2, kept = i, low_after, high_after, result;
    // kill() of the thread's own process, by system call: delivered before the next instruction.
    __asm__ volatile(
        "movq %4, %%xmm5\nmovq %5, %%xmm15\nmov %3, %%rbx\nsyscall\n"
        "movq %%xmm5, %0\nmovq %%xmm15, %1\ncmp %3, %%rbx\nmov $0, %%eax\nsetne %%al\n"
        : "=&r"(low_after), "=&r"(high_after), "=&a"(result)
        : "r"(kept), "r"(low_part), "r"(high_part), "2"(62L), "D"((long)getpid()), "S"((long)SIGUSR1)
        : "rbx", "rcx", "r11", "xmm5", "xmm15", "memory");
    spoilt += low_after != low_part || high_after != high_part || result;
  }
  for (int i = 0; i < 40; ++i) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(62L), "D"((long)getpid()), "S"((long)SIGUSR2)
                     : "rcx", "r11", "memory");
    right += result == 1000 + SIGUSR2;
    work_ms(1);
  }
  printf("spoilt %d, right %d, own %d, elsewhere %d\n", spoilt, right, own, elsewhere);
}

// --- handlers that leave: by a jump, and for another context, which comes back
static sigjmp_buf back;
static void leave(int number) { siglongjmp(back, number); }
static ucontext_t interrupted, other;
static volatile int visits;
static void visit(int number) {
  (void)number;
  volatile char mine[2048];
  memset((char*)mine, visits, sizeof mine);
  swapcontext(&interrupted, &other);
  for (unsigned i = 0; i < sizeof mine; ++i)
    if (mine[i] != (char)(visits - 1)) _exit(9);
}
static void other_loop(void) {
  for (;;) {
    work_ms(5);  // ticks come, and begin at the top of the stack that is the agent's
    ++visits;
    swapcontext(&other, &interrupted);
  }
}
static void leaves(void) {
  static char stack[65536];
  int jumped = 0;
  learn_stack();
  handle(SIGUSR1, leave, SA_ONSTACK);
  handle(SIGPROF, leave, SA_ONSTACK);
  for (volatile int i = 0; i < 40; ++i)
    if (sigsetjmp(back, 1))
      ++jumped;
    else
      work_ms(1), raise(i % 2 ? SIGUSR1 : SIGPROF);
  getcontext(&other);
  other.uc_stack.ss_sp = stack;
  other.uc_stack.ss_size = sizeof stack;
  makecontext(&other, other_loop, 0);
  handle(SIGUSR2, visit, SA_ONSTACK);
  handle(SIGPROF, visit, SA_ONSTACK);
  for (int i = 0; i < 40; ++i) raise(i % 2 ? SIGUSR2 : SIGPROF);
  printf("jumped %d, visits %d\n", jumped, visits);
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
  for (int i = 0; i < COUNT; ++i) {
    struct sigaction once = {.sa_handler = note_place,
                             .sa_flags = SA_ONSTACK | SA_NODEFER | (int)SA_RESETHAND};
    if (i % 3) sigfillset(&once.sa_mask);
    sigaction(kNumbers[i], &once, NULL);
    sigaction(kNumbers[i], NULL, &now);
    printf("%d: handler %d, flags %x, mask %lx", kNumbers[i], now.sa_handler == note_place,
           (unsigned)now.sa_flags, now.sa_mask.__val[0]);
    raise(kNumbers[i]);
    sigaction(kNumbers[i], NULL, &now);
    printf(", then %d %x %lx", now.sa_handler == SIG_DFL, (unsigned)now.sa_flags, now.sa_mask.__val[0]);
    handle(kNumbers[i], give, SA_ONSTACK);
    sigaction(kNumbers[i], &(struct sigaction){.sa_handler = note_place}, &now);
    printf(", before %d %x", now.sa_handler == give, (unsigned)now.sa_flags);
    handle(kNumbers[i], give, SA_ONSTACK);
    siginterrupt(kNumbers[i], 0);
    printf(", by signal() %d\n", signal(kNumbers[i], SIG_IGN) == give);
  }
  fflush(stdout);
  handle(SIGUSR2, note_place, SA_ONSTACK);
  if (vfork() == 0) {
    sigaction(SIGUSR2, NULL, &now);
    const int seen = now.sa_handler == note_place;
    handle(SIGUSR2, give, SA_ONSTACK);
    sigaction(SIGUSR2, NULL, &now);
    _exit(seen + 2 * (now.sa_handler == give));
  }
  int status = 0;
  wait(&status);
  sigaction(SIGUSR2, NULL, &now);
  const struct sigaction giving = {.sa_handler = give, .sa_flags = SA_ONSTACK};
  const int refused = sigaction(SIGKILL, &giving, NULL);
  printf("child of vfork %d, parent %d, refused %d %d\n", WEXITSTATUS(status), now.sa_handler == note_place,
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
  raise(SIGPROF);
}

// --- a stack that overflows, with nowhere else to go
static int recurse(volatile char* above) {
  volatile char here[4096];
  here[0] = above ? above[0] : 1;
  SPIN(x, 2000);
  return recurse(here) + here[0];
}
static void* overflow_here(void* unused) { return (void*)(uintptr_t)recurse(unused); }
static void say(int number) {
  static const char words[] = "handled\n";
  if (write(1, words, sizeof words - 1)) _exit(number);
}
static int flags_of_overflow = SA_ONSTACK;
static void overflow(void) {
  work_ms(20);
  handle(SIGSEGV, say, flags_of_overflow);
  recurse(NULL);
}
static void overflow_nodefer(void) { flags_of_overflow |= SA_NODEFER, overflow(); }
static void overflow_in_thread(void) {
  pthread_t thread;
  handle(SIGSEGV, say, SA_ONSTACK);
  work_ms(20);
  pthread_create(&thread, NULL, overflow_here, NULL);
  pthread_join(thread, NULL);
}
/// Signals come all the while, so that one of them meets the end of the stack.
static void note_nothing(int number) { (void)number; }
static void* send(void* to) {
  for (;;) {
    pthread_kill(*(pthread_t*)to, SIGUSR1);
    usleep(20);
  }
}
static void overflow_in_storm(void) {
  static pthread_t self;
  pthread_t thread;
  self = pthread_self();
  handle(SIGUSR1, note_nothing, SA_ONSTACK);
  pthread_create(&thread, NULL, send, &self);
  overflow();
}
static void overflow_in_child(void) {
  int status = 0;
  handle(SIGSEGV, say, SA_ONSTACK);
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    if (child == 0) work_ms(20), recurse(NULL);
    waitpid(child, &status, 0);
    printf("child: signal %d, exit %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0,
           WIFEXITED(status) ? WEXITSTATUS(status) : 0);
    fflush(stdout);
  }
}

static const struct {
  const char* name;
  void (*run)(void);
} kKinds[] = {
    {"place", place},
    {"own_stack", own_stack},
    {"nested", nested},
    {"registers", registers},
    {"leaves", leaves},
    {"told", told},
    {"defaults", defaults},
    {"overflow", overflow},
    {"overflow_nodefer", overflow_nodefer},
    {"overflow_in_thread", overflow_in_thread},
    {"overflow_in_storm", overflow_in_storm},
    {"overflow_in_child", overflow_in_child},
};

int main(int argc, char** argv) {
  for (unsigned i = 0; argc == 2 && i < sizeof kKinds / sizeof *kKinds; ++i)
    if (!strcmp(kKinds[i].name, argv[1])) {
      work_ms(60);
      kKinds[i].run();
      return 0;
    }
  fprintf(stderr, "usage: handler_stacks KIND\n");
  return 2;
}
