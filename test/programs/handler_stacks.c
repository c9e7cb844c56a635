// SPDX-License-Identifier: MIT
// flags: -D_GNU_SOURCE
// handler_stacks KIND: programs whose handlers ask for an alternate stack (SA_ONSTACK) in threads that have
// none, or that have one and do not ask. Each works meanwhile, so that ticks come, and says what it saw.
// Context: test 66_handler_stacks.
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "handlers.h"

static __thread char *low, *high;  // of the thread's own stack
static __thread volatile int own, elsewhere;

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
// Not SIGSEGV: a signal of faults that is raised just as a tick comes stays with it.
static const int kNumbers[] = {SIGUSR1, SIGUSR2, SIGPROF, SIGTRAP, SIGALRM, 40};
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
/// What a function must preserve is at a handler's first instruction as it was interrupted.
static volatile long at_entry[6];
__attribute__((naked)) static void keep_registers(int number) {
  (void)number;
  __asm__(
      "mov %rbx, at_entry(%rip)\nmov %rbp, at_entry+8(%rip)\nmov %r12, at_entry+16(%rip)\n"
      "mov %r13, at_entry+24(%rip)\nmov %r14, at_entry+32(%rip)\nmov %r15, at_entry+40(%rip)\nret");
}
static int raise_with_registers(void) {
  long result, differ = 0;
  __asm__ volatile(
      "push %%rbp\nmov $11, %%ebx\nmov $12, %%ebp\nmov $13, %%r12d\nmov $14, %%r13d\nmov $15, %%r14d\n"
      "mov $16, %%r15d\nsyscall\npop %%rbp"
      : "=a"(result)
      : "0"(62L), "D"((long)getpid()), "S"((long)SIGALRM)
      : "rbx", "r12", "r13", "r14", "r15", "rcx", "r11", "memory");
  for (int i = 0; i < 6; ++i) differ += at_entry[i] != 11 + i;
  return differ != 0 || result != 0;
}
static void registers(void) {
  learn_stack();
  handle(SIGALRM, keep_registers, SA_ONSTACK);
  int at_begin = 0;
  for (int i = 0; i < 20; ++i) at_begin += raise_with_registers();
  printf("at entry %d, ", at_begin);
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
static void begin_other(void) {
  static char stack[65536];
  getcontext(&other);
  other.uc_stack.ss_sp = stack;
  other.uc_stack.ss_size = sizeof stack;
  makecontext(&other, other_loop, 0);
}
static void leaves(void) {
  int jumped = 0;
  learn_stack();
  handle(SIGUSR1, leave, SA_ONSTACK);
  handle(SIGPROF, leave, SA_ONSTACK);
  for (volatile int i = 0; i < 40; ++i)
    if (sigsetjmp(back, 1))
      ++jumped;
    else
      work_ms(1), raise(i % 2 ? SIGUSR1 : SIGPROF);
  begin_other();
  handle(SIGUSR2, visit, SA_ONSTACK);
  handle(SIGPROF, visit, SA_ONSTACK);
  for (int i = 0; i < 40; ++i) raise(i % 2 ? SIGUSR2 : SIGPROF);
  printf("jumped %d, visits %d\n", jumped, visits);
}

// --- signals of another process, for what stands between a program and its handlers (ThreadSanitizer)
static volatile int handled;
static void count(int number) { handled += number != 0; }
static void from_outside(void) {
  const pid_t self = getpid();
  handle(SIGUSR1, count, SA_ONSTACK);
  handle(SIGPROF, count, SA_ONSTACK);
  const pid_t child = fork();
  for (int i = 0; child == 0 && i < 40; ++i) usleep(2000), kill(self, i % 2 ? SIGUSR1 : SIGPROF);
  if (child == 0) _exit(0);
  for (int i = 0; i < 100; ++i) work_ms(1), thread_ns();  // a call, for handlers are held back until one
  while (waitpid(child, NULL, 0) < 0) continue;
  printf("handled %s\n", handled > 10 ? "many" : "few");
}

// --- a runtime (Go's) that asks the kernel itself for its stack, adopts what it finds, and works on others
static char* adopted;
static volatile int on_adopted, on_others;
static void note_adopted(int number) {
  char here;
  (void)number;
  if (&here >= adopted && &here < adopted + 262144)
    ++on_adopted;
  else
    ++on_others;
}
static ucontext_t goroutine, scheduler;
static void run_goroutine(void) {
  for (int i = 0; i < 20; ++i) work_ms(1), raise(i % 2 ? SIGUSR1 : SIGUSR2);
  setcontext(&scheduler);
}
static void adopts(void) {
  static char stack[65536];
  static char own_one[65536];
  stack_t found = {0};
  syscall(SYS_sigaltstack, NULL, &found);
  const stack_t mine = {.ss_sp = own_one, .ss_size = sizeof own_one};
  if (found.ss_flags & SS_DISABLE) sigaltstack(&mine, &found), found = mine;
  adopted = found.ss_sp;
  handle(SIGUSR1, note_adopted, SA_ONSTACK);
  handle(SIGUSR2, note_adopted, SA_ONSTACK);
  volatile int begun = 0;
  getcontext(&scheduler);
  if (!begun) {
    begun = 1;
    getcontext(&goroutine);
    goroutine.uc_stack.ss_sp = stack;
    goroutine.uc_stack.ss_size = sizeof stack;
    makecontext(&goroutine, run_goroutine, 0);
    setcontext(&goroutine);
  }
  printf("on its stack %d, elsewhere %d\n", on_adopted, on_others);
}

static const struct Kind kKinds[] = {
    {"place", place},
    {"own_stack", own_stack},
    {"nested", nested},
    {"registers", registers},
    {"leaves", leaves},
    {"from_outside", from_outside},
    {"adopts", adopts},
};

int main(int argc, char** argv) { return run_kind(argc, argv, kKinds, sizeof kKinds / sizeof *kKinds); }
