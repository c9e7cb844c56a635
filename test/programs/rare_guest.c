// SPDX-License-Identifier: MIT
// flags: -D_GNU_SOURCE -Wno-deprecated-declarations
// rare_guest KIND: programs that forbid themselves system calls or clocks, have alternate stacks hardly
// larger than a frame of the kernel's, or do with SIGPROF and SIGTRAP what few do. Each works meanwhile, so
// that ticks come, and says what it saw. Context: test 52_rare_guests.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "work.h"

static uint64_t x = 9;
static void work_ms(unsigned ms) { SPIN(x, ms * STEPS_PER_MS); }
static volatile sig_atomic_t seen;
static jmp_buf place;
static void work_in_handler(int number) {
  (void)number;
  ++seen;
  work_ms(25);
}

/* The kernel's word, not a hook's. */
static int blocked(int number) {
  uint64_t mask = 0;
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
  return (int)(mask >> (number - 1) & 1);
}
static void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  sigaction(number, &action, NULL);
}

/* Every system call of the thread becomes SIGSYS while the byte says so: as emulators of other systems do. */
static volatile char selector = 0;
static int dispatch(void) {
  work_ms(100);
  if (prctl(59 /* PR_SET_SYSCALL_USER_DISPATCH */, 1, 0, 0, &selector)) return puts("not here") < 0;
  selector = 1;
  work_ms(200);
  selector = 0;
  return puts("dispatched") < 0;
}
static int no_counter(void) {
  work_ms(100);
  prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
  work_ms(200);
  usleep(1000);
  return puts("without the counter") < 0;
}

/* A stack of so many bytes with a page below it that must stay as it is. */
static unsigned char* memory;
static void stack_of(size_t bytes) {
  memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(memory, 0xa5, 32768);
  sigaltstack(&(stack_t){.ss_sp = memory + 32768, .ss_size = bytes}, NULL);
}
static int spoilt(void) {
  int count = 0;
  for (int i = 0; i < 32768; ++i) count += memory[i] != 0xa5;
  return count;
}
static int tiny(size_t bytes) {
  work_ms(100);
  stack_of(bytes);
  work_ms(200);
  printf("spoilt %d\n", spoilt());
  sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
  work_ms(200);
  return 0;
}
static int tiny_2048(void) { return tiny(2048); }
static int tiny_4096(void) { return tiny(4096); }
/* As large as has long been said to suffice, with handlers that work there, set before and after. */
static int handlers_8192(void) {
  const struct itimerval often = {{0, 30000}, {0, 30000}}, never = {{0, 0}, {0, 0}};
  const size_t frame = getauxval(51 /* AT_MINSIGSTKSZ */);
  handle(SIGALRM, work_in_handler, SA_ONSTACK);
  stack_of(frame + 4400 > 8192 ? 16384 : 8192);
  handle(SIGUSR1, work_in_handler, SA_ONSTACK);
  setitimer(ITIMER_REAL, &often, NULL);
  for (int i = 0; i < 6; ++i) {
    work_ms(20);
    raise(SIGUSR1);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  struct sigaction now;
  sigaction(SIGALRM, NULL, &now);
  printf("handled %d, spoilt %d, mask %d\n", seen >= 7, spoilt(), sigismember(&now.sa_mask, SIGPROF));
  return 0;
}

/* A handler on such a stack meets a breakpoint of the program's, and puts back the mask that it found. */
static volatile sig_atomic_t traps, profiled, let_in;
static void on_trap(int number) { traps += number == SIGTRAP; }
static void on_prof(int number) { profiled += number == SIGPROF; }
static void mask_and_trap(int number) {
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  printf("%d shown %d %d\n", number, sigismember(&before, SIGPROF), sigismember(&before, SIGTRAP));
  sigprocmask(SIG_SETMASK, &before, NULL);
  __asm__ volatile("int3");
}
static int own_signals(void) {
  const struct itimerval often = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}};
  sigset_t now;
  stack_of(16384);
  handle(SIGTRAP, on_trap, SA_RESTART);
  handle(SIGUSR1, mask_and_trap, SA_ONSTACK | SA_RESTART);
  raise(SIGUSR1);
  handle(SIGPROF, on_prof, SA_RESTART);
  setitimer(ITIMER_PROF, &often, NULL);
  raise(SIGUSR1);
  work_ms(200);
  setitimer(ITIMER_PROF, &never, NULL);
  sigprocmask(SIG_BLOCK, NULL, &now);
  printf("traps %d, profiled %d, blocked %d %d\n", traps, profiled >= 3, sigismember(&now, SIGPROF),
         sigismember(&now, SIGTRAP));
  return 0;
}

/* Out of a handler of faults by a jump that restores no mask, once its own signal is let in again. */
static void let_in_and_leave(int number) {
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, number);
  sigprocmask(SIG_UNBLOCK, &own, NULL);
  longjmp(place, 1);
}
static int leaves(void) {
  static char large[65536];
  volatile int left = 0;
  sigaltstack(&(stack_t){.ss_sp = large, .ss_size = sizeof large}, NULL);
  handle(SIGSEGV, let_in_and_leave, SA_ONSTACK);
  for (volatile int i = 0; i < 5; ++i)
    if (setjmp(place) == 0)
      *(volatile int*)8 = 1;
    else
      ++left;
  work_ms(300);
  printf("left %d, blocked %d %d\n", left, blocked(SIGSEGV), blocked(SIGPROF));
  return 0;
}

/* The same in a program that handles the signals of ticks itself: a breakpoint in the handler, and one after
 * it. */
static void trap_and_leave(int number) {
  __asm__ volatile("int3");
  let_in_and_leave(number);
}
static int leaves_little(void) {
  stack_of(8192);
  handle(SIGTRAP, on_trap, SA_RESTART);
  handle(SIGSEGV, let_in_and_leave, SA_ONSTACK);
  for (volatile int i = 0; i < 3; ++i) {
    if (setjmp(place) == 0) *(volatile int*)8 = 1;
    __asm__ volatile("int3");
    work_ms(60);
  }
  return printf("traps %d, blocked %d\n", traps, blocked(SIGTRAP)) < 0;
}
static int leaves_and_handles(void) {
  const struct itimerval often = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}};
  static char large[65536];
  sigaltstack(&(stack_t){.ss_sp = large, .ss_size = sizeof large}, NULL);
  handle(SIGTRAP, on_trap, SA_RESTART);
  handle(SIGPROF, on_prof, SA_RESTART);
  handle(SIGSEGV, trap_and_leave, SA_ONSTACK);
  for (volatile int i = 0; i < 3; ++i)
    if (setjmp(place) == 0) *(volatile int*)8 = 1;
  setitimer(ITIMER_PROF, &often, NULL);
  work_ms(200);
  setitimer(ITIMER_PROF, &never, NULL);
  __asm__ volatile("int3");
  return printf("traps %d, profiled %d, blocked %d %d\n", traps, profiled >= 3, blocked(SIGPROF),
                blocked(SIGTRAP)) < 0;
}

/* The same without an alternate stack; and SIGPROF stays blocked in its own handler, which lets faults in. */
static void on_prof_let_faults_in(int number) {
  sigset_t faults;
  sigemptyset(&faults);
  sigaddset(&faults, SIGSEGV);
  sigprocmask(SIG_UNBLOCK, &faults, NULL);
  let_in += !blocked(number);
  ++profiled;
}
static void trap_and_go_back(int number) {
  __asm__ volatile("int3");
  siglongjmp(place, number);
}
static int traps_without_stack(void) {
  handle(SIGTRAP, on_trap, SA_RESTART);
  handle(SIGPROF, on_prof_let_faults_in, SA_RESTART);
  handle(SIGSEGV, trap_and_go_back, SA_ONSTACK);
  for (volatile int i = 0; i < 3; ++i) {
    raise(SIGPROF);
    if (sigsetjmp(place, 1) == 0) *(volatile int*)8 = 1;
    work_ms(30);
  }
  return printf("traps %d, profiled %d, let in %d\n", traps, profiled, let_in) < 0;
}

/* What a handler may do on such a stack: work, let everything in, wait with nothing blocked, have another one
 * come, leave by a jump. */
static int shown(void) {
  sigset_t now;
  sigprocmask(SIG_BLOCK, NULL, &now);
  return sigismember(&now, SIGPROF) + 2 * sigismember(&now, SIGTRAP);
}
static void do_much(int number) {
  const struct timespec no_time = {0, 0};
  sigset_t all, none;
  sigfillset(&all), sigemptyset(&none);
  if (number == SIGUSR2) return work_ms(20);
  work_ms(40);
  const int before = shown();
  sigprocmask(SIG_UNBLOCK, &all, NULL);
  work_ms(40);
  pselect(0, NULL, NULL, NULL, &no_time, &none);
  raise(SIGUSR2);
  work_ms(40);
  const int after = shown();
  seen = seen + 1 + 10 * (before || after);
  longjmp(place, 1);
}
static int much_on_little(void) {
  stack_of(8704);
  handle(SIGPROF, on_prof, SA_RESTART);
  handle(SIGUSR2, do_much, SA_ONSTACK);
  for (volatile int i = 0; i < 2; ++i) {
    handle(SIGUSR1, do_much, i ? SA_ONSTACK | SA_NODEFER : SA_ONSTACK);
    if (setjmp(place) == 0) raise(SIGUSR1);
  }
  handle(SIGTRAP, on_trap, 0);
  __asm__ volatile("int3");
  work_ms(100);
  printf("handled %d, traps %d, shown %d, spoilt %d\n", seen, traps, shown(), spoilt());
  return 0;
}

/* Children that no hook sees begin wait for SIGPROF, which they block, or whose parent did. */
static void unseen_child(int by_parent) {
  sigset_t set;
  int number = 0, status = 0;
  sigemptyset(&set);
  sigaddset(&set, SIGPROF);
  if (by_parent) sigprocmask(SIG_BLOCK, &set, NULL);
  fflush(stdout);
  const long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) {
    alarm(10);
    if (!by_parent) sigprocmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGPROF);
    sigwait(&set, &number);
    _exit(number);
  }
  waitpid((pid_t)child, &status, 0);
  printf("child %s %d\n", WIFEXITED(status) ? "ended" : "died", WEXITSTATUS(status));
}
static int unseen_children(void) {
  unseen_child(0);
  unseen_child(1);
  work_ms(100);
  return 0;
}

/* Threads that wait for SIGPROF and SIGTRAP get them with their values, each that waits in its turn, or later
 * those that were ignored. */
static int awaited;
static void* waits(void* pipe) {
  sigset_t set;
  siginfo_t got = {0};
  int ready = 1;
  sigemptyset(&set);
  sigaddset(&set, awaited);
  for (int i = 0; i < 2; ++i) {
    int number = -1;
    while (number < 0) number = sigwaitinfo(&set, &got); /* The kernel may wake two for one. */
    printf("%d code %d value %d\n", number, got.si_code, got.si_value.sival_int);
    fflush(stdout);
    if (write(*(int*)pipe, &ready, sizeof ready) < 0) return NULL;
  }
  return pipe;
}
static void wait_for_all(int number) {
  const struct timespec soon = {0, 100000000}, no_time = {0, 0};
  pthread_t threads[3];
  sigset_t set;
  int pipes[2], ready;
  siginfo_t got;
  awaited = number;
  sigemptyset(&set);
  sigaddset(&set, number);
  sigprocmask(SIG_BLOCK, &set, NULL);
  if (pipe(pipes)) exit(8);
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, waits, &pipes[1]);
  usleep(20000);
  for (int i = 0; i < 40; ++i) sigtimedwait(&set, &got, &no_time);  // the others wait still
  for (int i = 0; i < 6; ++i) {
    work_ms(10);
    sigqueue(getpid(), number, (union sigval){.sival_int = 40 + i});
    if (read(pipes[0], &ready, sizeof ready) < 0) exit(8);
  }
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  handle(number, SIG_IGN, 0);
  kill(getpid(), number);
  printf("ignored and waited for: %d\n", sigtimedwait(&set, &got, &soon));
}
static int waiters(void) {
  alarm(20);
  wait_for_all(SIGPROF);
  wait_for_all(SIGTRAP);
  return 0;
}

/* Signals that are to interrupt calls, as an old function says. They come once the call waits. */
static int sleeps(pid_t process) {
  char path[64], text[256] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", process);
  FILE* file = fopen(path, "r");
  if (!file || !fgets(text, sizeof text, file)) exit(8);
  fclose(file);
  return strstr(text, ") S") != NULL;
}
static int interrupts(void) {
  const int numbers[] = {SIGUSR1, SIGPROF, SIGTRAP};
  for (int i = 0; i < 6; ++i) {
    const int number = numbers[i % 3];
    const pid_t parent = getpid();
    struct sigaction now;
    char byte;
    int pipes[2];
    if (i < 3) siginterrupt(number, 1);
    signal(number, work_in_handler);
    if (i >= 3) siginterrupt(number, 0), siginterrupt(number, 1);
    sigaction(number, NULL, &now);
    if (pipe(pipes)) exit(8);
    fflush(stdout);
    const pid_t child = fork();
    if (!child) {
      for (int asleep = 0; asleep < 3; usleep(10000)) asleep = sleeps(parent) ? asleep + 1 : 0;
      kill(parent, number), usleep(150000);
      _exit(write(pipes[1], "", 1) != 1);
    }
    printf("read %ld, flags %x\n", (long)read(pipes[0], &byte, 1), (unsigned)now.sa_flags);
    waitpid(child, NULL, 0);
  }
  return 0;
}

/* A signal that the thread sends itself is delivered when the call is over, as a tick may be: its handler has
   the mask that it asked for, not that of a tick. */
static volatile unsigned long wrong_masks;
static void look_at_mask(int number) {
  uint64_t mask = 0;
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
  ++seen;
  wrong_masks += (mask & ~(1ul << (number - 1) | 1ul << (SIGPROF - 1) | 1ul << (SIGTRAP - 1))) != 0;
}
static int sent_faults(void) {
  const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  for (int i = 0; i < 4; ++i) {
    handle(numbers[i], look_at_mask, i % 2 ? SA_ONSTACK : 0);
    for (int k = 0; k < 50000; ++k) raise(numbers[i]);
  }
  return printf("sent %d, masks of others %lu\n", (int)seen, wrong_masks) < 0;
}

int main(int count, char** words) {
  const struct {
    const char* name;
    int (*run)(void);
  } kinds[] = {{"dispatch", dispatch},
               {"no_counter", no_counter},
               {"tiny_2048", tiny_2048},
               {"tiny_4096", tiny_4096},
               {"handlers_8192", handlers_8192},
               {"own_signals", own_signals},
               {"much_on_little", much_on_little},
               {"leaves", leaves},
               {"unseen_children", unseen_children},
               {"waiters", waiters},
               {"interrupts", interrupts},
               {"leaves_and_handles", leaves_and_handles},
               {"leaves_little", leaves_little},
               {"traps_without_stack", traps_without_stack},
               {"sent_faults", sent_faults}};
  for (size_t i = 0; count > 1 && i < sizeof kinds / sizeof *kinds; ++i)
    if (!strcmp(kinds[i].name, words[1])) return kinds[i].run();
  return 9;
}
