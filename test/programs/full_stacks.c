// SPDX-License-Identifier: MIT
// flags: -D_GNU_SOURCE -Wno-infinite-recursion
// full_stacks KIND: stacks that have overflowed, or have no room for the frame of a signal, under handlers with
// and without SA_ONSTACK, in threads with and without a stack for them: most are to end by SIGSEGV.
// Context: test 66_handler_stacks.
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "handlers.h"

static sigjmp_buf back;
static void leave(int number) { siglongjmp(back, number); }
static void note_nothing(int number) { (void)number; }

// --- no room for the frame of a signal: the stack pointer near the end of the thread's stack
static void say(int number) {
  static const char words[] = "handled\n";
  if (write(1, words, sizeof words - 1)) _exit(number);
}
static void raise_low(int number, char* stack_pointer) {
  __asm__ volatile("mov %%rsp, %%rbx\nmov %3, %%rsp\nsyscall\nmov %%rbx, %%rsp"
                   :
                   : "D"((long)getpid()), "S"((long)gettid()), "d"((long)number), "r"(stack_pointer),
                     "a"((long)SYS_tgkill)
                   : "rbx", "rcx", "r11", "memory");
}
static int kind;  // bits: signal, its flags, those of SIGSEGV, a jump, a stack of the program's
static void* have_no_room(void* unused) {
  static char alternate[65536];
  pthread_attr_t attributes;
  void* low;
  size_t size;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &low, &size);
  const int number = kind & 1 ? SIGPROF : SIGUSR1;
  if (kind & 16) sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = sizeof alternate}, NULL);
  handle(number, note_nothing, kind & 2 ? SA_ONSTACK : 0);
  handle(SIGSEGV, kind & 8 ? leave : say, kind & 4 ? SA_ONSTACK : 0);
  work_ms(5);
  if (sigsetjmp(back, 1)) _exit(99);
  raise_low(number, (char*)low + 512);
  _exit(98);
  return unused;
}
static void no_room(void) {
  for (kind = 0; kind < 32; ++kind) {
    const pid_t child = fork();
    if (child == 0) {
      pthread_t thread;
      pthread_create(&thread, NULL, have_no_room, NULL);
      pthread_join(thread, NULL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("%d: %x\n", kind, status & 0xff7f);
    fflush(stdout);
  }
  puts("done");
}

// --- a stack that overflows, with nowhere else to go
static int recurse(volatile char* above) {
  volatile char here[4096];
  here[0] = above ? above[0] : 1;
  SPIN(x, 2000);
  return recurse(here) + here[0];
}
static void* overflow_here(void* unused) { return (void*)(uintptr_t)recurse(unused); }
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

/// A handler gives a thread an alternate stack. The signal's return takes it away again, but from the first
/// thread, which has had none that the kernel could put back.
static void give(int number) {
  static char alternate[65536];
  sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = sizeof alternate}, NULL);
  errno = number;
}
static void overflow_on_given(void) {
  // What the kernel notes of a process without such a stack is from who started it, unless this is done.
  if (!getenv("FULL_STACKS_AGAIN")) {
    static char alternate[65536];
    sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = sizeof alternate}, NULL);
    setenv("FULL_STACKS_AGAIN", "1", 1);
    execl("/proc/self/exe", "full_stacks", "overflow_on_given", (char*)NULL);
  }
  handle(SIGUSR1, give, 0);
  raise(SIGUSR1);
  work_ms(20);
  handle(SIGSEGV, say, SA_ONSTACK);
  recurse(NULL);
}

static void* overflow_on_taken(void* unused) {
  raise(SIGUSR1);
  work_ms(20);
  return overflow_here(unused);
}
static void overflow_in_thread_on_given(void) {
  pthread_t thread;
  handle(SIGUSR1, give, 0);
  handle(SIGSEGV, say, SA_ONSTACK);
  pthread_create(&thread, NULL, overflow_on_taken, NULL);
  pthread_join(thread, NULL);
}

static const struct Kind kKinds[] = {
    {"no_room", no_room},
    {"overflow", overflow},
    {"overflow_nodefer", overflow_nodefer},
    {"overflow_in_thread", overflow_in_thread},
    {"overflow_in_storm", overflow_in_storm},
    {"overflow_in_child", overflow_in_child},
    {"overflow_on_given", overflow_on_given},
    {"overflow_in_thread_on_given", overflow_in_thread_on_given},
};

int main(int argc, char** argv) { return run_kind(argc, argv, kKinds, sizeof kKinds / sizeof *kKinds); }
