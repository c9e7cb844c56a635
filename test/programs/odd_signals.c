// SPDX-License-Identifier: MIT
// flags: -D_GNU_SOURCE -Wno-infinite-recursion
// odd_signals KIND: programs that do with signals, stacks and long system calls what few do, and must come
// through it as they do bare. Each works meanwhile, so that ticks come, and says what it saw. Context:
// test 66.
#include <alloca.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "work.h"

static uint64_t x = 47;
static sigjmp_buf back;
static volatile sig_atomic_t seen;

static void work_ms(unsigned ms) { SPIN(x, ms * STEPS_PER_MS); }
static void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  sigaction(number, &action, NULL);
}
static void jump_back(int number) { siglongjmp(back, number); }

// --- a stack that overflows, and a handler on another stack that leaves by a jump
static int recurse(volatile char* above) {
  volatile char here[4096];
  here[0] = above ? above[0] : 1;
  SPIN(x, 2000);
  return recurse(here) + here[0];
}
static void overflow(void) {
  static char alternate[65536];
  int recovered = 0;
  sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = sizeof alternate}, NULL);
  handle(SIGSEGV, jump_back, SA_ONSTACK);
  for (int i = 0; i < 8; ++i)
    if (sigsetjmp(back, 1) == 0)
      recurse(NULL);
    else
      ++recovered;
  stack_t now;
  sigaltstack(NULL, &now);
  printf("recovered %d, stack mine %d, in use %d\n", recovered, now.ss_sp == alternate,
         now.ss_flags & SS_ONSTACK);
}

// --- handlers that leave by a jump: computations, sleeps and locks
static void jumps(void) {
  volatile int jumped[3] = {0, 0, 0};
  handle(SIGALRM, jump_back, 0);
  for (volatile int i = 0; i < 90; ++i) {
    if (sigsetjmp(back, 1)) {
      ++jumped[i % 3];
      continue;
    }
    work_ms(2);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 3000}}, NULL);
    for (;;) {
      if (i % 3 == 0) work_ms(1);
      if (i % 3 == 1) poll(NULL, 0, 1000);
      if (i % 3 == 2) work_ms(1), usleep(50);
    }
  }
  sigset_t now;
  sigprocmask(SIG_BLOCK, NULL, &now);
  printf("jumped %d %d %d, blocked %d %d\n", jumped[0], jumped[1], jumped[2], sigismember(&now, SIGALRM),
         sigismember(&now, SIGPROF));
}

// --- coroutines on 8 KB, each with memory of its own right below
enum { kFibers = 8, kFiberBytes = 8192, kBelow = 8192 };
static ucontext_t fibers[kFibers], scheduler;
static int turns[kFibers];
static void fiber(int number) {
  for (;;) {
    ++turns[number];
    SPIN(x, STEPS_PER_MS / 10);
    swapcontext(&fibers[number], &scheduler);
  }
}
static void run_fibers(void) {
  unsigned char* memory = malloc(kFibers * (kFiberBytes + kBelow));
  memset(memory, 0xa5, kFibers * (kFiberBytes + kBelow));
  for (int i = 0; i < kFibers; ++i) {
    getcontext(&fibers[i]);
    fibers[i].uc_stack.ss_sp = memory + i * (kFiberBytes + kBelow) + kBelow;
    fibers[i].uc_stack.ss_size = kFiberBytes;
    makecontext(&fibers[i], (void (*)(void))fiber, 1, i);
  }
  for (int round = 0; round < 400; ++round)
    for (int i = 0; i < kFibers; ++i) swapcontext(&scheduler, &fibers[i]);
  int spoilt = 0;
  for (int i = 0; i < kFibers; ++i)
    for (int at = 0; at < kBelow; ++at) spoilt += memory[i * (kFiberBytes + kBelow) + at] != 0xa5;
  printf("turns %d %d, spoilt %d\n", turns[0], turns[kFibers - 1], spoilt);
}

// --- threads of the smallest size that have used all of it but 3 KB when they wait
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;
static char* small_stack;
static int waits_right;
static void __attribute__((noinline)) wait_around(void) {
  struct timespec now;
  int failed = usleep(1000) != 0;
  failed += poll(NULL, 0, 1) != 0;
  pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex);
  clock_gettime(CLOCK_REALTIME, &now);
  failed += sem_timedwait(&semaphore, &now) != -1 || errno != ETIMEDOUT;
  SPIN(x, 10 * STEPS_PER_MS);
  waits_right += !failed;
}
static void* small_thread(void* unused) {
  volatile char here;
  volatile char* fill = alloca((size_t)(&here - small_stack) - 3072);
  fill[0] = 1;
  wait_around();
  return fill[0] ? unused : NULL;
}
static void small_threads(void) {
  size_t size = (size_t)sysconf(_SC_THREAD_STACK_MIN);
  char* memory = mmap(NULL, size + 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  small_stack = memory + 65536;
  mprotect(small_stack, size, PROT_READ | PROT_WRITE);
  sem_init(&semaphore, 0, 0);
  wait_around();  // binds the functions: that takes more stack than there will be
  for (int i = 0; i < 10; ++i) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, small_stack, size);
    if (pthread_create(&thread, &attributes, small_thread, NULL) || pthread_join(thread, NULL)) return;
  }
  printf("right %d\n", waits_right);
}

// --- a handler of faults that works for long, on a small alternate stack, and mends what faulted
static char* faulting;
static void mend(int number) {
  work_ms(20);
  mprotect(faulting, 4096, PROT_READ | PROT_WRITE);
  seen += number == SIGSEGV;
}
static void fault_handler(void) {
  enum { kSmall = 8192 };
  unsigned char* memory = malloc(2 * kSmall);
  memset(memory, 0xa5, 2 * kSmall);
  sigaltstack(&(stack_t){.ss_sp = memory + kSmall, .ss_size = kSmall}, NULL);
  handle(SIGSEGV, mend, SA_ONSTACK);
  faulting = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 8; ++i) {
    mprotect(faulting, 4096, PROT_NONE);
    *(volatile char*)faulting = 1;
    work_ms(5);
  }
  int spoilt = 0;
  for (int at = 0; at < kSmall; ++at) spoilt += memory[at] != 0xa5;
  printf("mended %d, spoilt %d\n", (int)seen, spoilt);
}

// --- stopped and continued in calls that wait
static int ends[2];
static char state_of(pid_t pid) {
  char path[64], text[256] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE* file = fopen(path, "r");
  if (!file || !fgets(text, sizeof text, file)) return '?';
  fclose(file);
  char* end = strrchr(text, ')');
  return end ? end[2] : '?';
}
static void stop_parent(void) {
  pid_t parent = getppid();
  for (int i = 0; i < 5; ++i) {
    while (state_of(parent) != 'S') usleep(500);
    kill(parent, SIGSTOP);
    while (state_of(parent) != 'T') usleep(500);
    kill(parent, SIGCONT);
    while (state_of(parent) == 'T') usleep(500);
  }
  usleep(20000);
  if (write(ends[1], "x", 1) != 1) _exit(1);
  _exit(0);
}
static void stopped(void) {
  const char* names[] = {"read", "poll", "epoll_wait", "nanosleep", "sigtimedwait"};
  int epoll = epoll_create1(0);
  sigset_t none;
  sigemptyset(&none);
  sigaddset(&none, SIGUSR2);
  if (pipe(ends)) return;
  epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &(struct epoll_event){.events = EPOLLIN});
  for (int i = 0; i < 5; ++i) {
    char byte;
    work_ms(20);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) stop_parent();
    int interrupted = 0, result = 0;
    struct timespec left = {0, 200000000};
    do {
      errno = 0;
      if (i == 0) result = (int)read(ends[0], &byte, 1);
      if (i == 1) result = poll(&(struct pollfd){ends[0], POLLIN, 0}, 1, -1);
      if (i == 2) result = epoll_wait(epoll, &(struct epoll_event){0}, 1, -1);
      if (i == 3) result = nanosleep(&left, &left);
      if (i == 4) result = sigtimedwait(&none, NULL, &(struct timespec){0, 200000000});
      interrupted += result < 0 && errno == EINTR;
    } while (result < 0 && errno == EINTR);
    int error = errno;
    waitpid(child, NULL, 0);
    if (i) result += read(ends[0], &byte, 1) != 1;
    printf("%s: %d %s, interrupted %d\n", names[i], result, error ? strerrorname_np(error) : "-",
           interrupted != 0);
  }
}

// --- programs that replace themselves: no tick of one kills the next, a signal of its own comes through
static void chain(unsigned left) {
  char number[16], *again[] = {"odd_signals", "chain", number, NULL};
  snprintf(number, sizeof number, "%u", left - 1);
  work_ms(6);
  if (left > 1) execv("/proc/self/exe", again);
  printf("end of the chain\n");
}
static void pending_now(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPROF), sigaddset(&set, SIGUSR1), sigaddset(&set, SIGUSR2);
  printf("pending");
  for (int i = 0; i < 4; ++i) printf(" %d", sigtimedwait(&set, NULL, &(struct timespec){0, 0}));
  printf("\n");
}
static void pending(int after) {
  char* again[] = {"odd_signals", "pending_after", NULL};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPROF), sigaddset(&set, SIGUSR1), sigaddset(&set, SIGUSR2);
  if (!after) {
    sigprocmask(SIG_BLOCK, &set, NULL);
    work_ms(50);
    kill(getpid(), SIGUSR1), kill(getpid(), SIGPROF), kill(getpid(), SIGUSR2);
    pending_now();
    kill(getpid(), SIGPROF);
    work_ms(50);
    fflush(stdout);
    execv("/proc/self/exe", again);
  }
  pending_now();
  work_ms(50);
}

// --- system calls that take many intervals, and must not begin anew at each tick
static void long_calls(void) {
  const size_t bytes = 192 << 20;
  int done = 0, status;
  for (int i = 0; i < 3; ++i) {
    char* memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    done += memory != MAP_FAILED;
    work_ms(5);
    pid_t child = fork();
    if (child == 0) _exit(3);
    done += waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3;
    child = (pid_t)syscall(SYS_fork);
    if (child == 0) syscall(SYS_exit_group, 4);
    done += waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 4;
    done += madvise(memory, bytes, MADV_DONTNEED) == 0 && munmap(memory, bytes) == 0;
  }
  printf("done %d\n", done);
}

// --- queued signals come in order, with their values; children are all reaped by a handler
static int values[64], taken;
static void take_value(int number, siginfo_t* info, void* context) {
  if (number > 0 && context && taken < 64) values[taken++] = info->si_value.sival_int;
}
static void queued(void) {
  struct sigaction action = {.sa_sigaction = take_value, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigset_t set;
  int wrong = 0;
  sigaction(SIGRTMIN + 1, &action, NULL);
  sigemptyset(&set);
  sigaddset(&set, SIGRTMIN + 1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  for (int i = 0; i < 64; ++i) sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = i}), work_ms(1);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  for (int i = 0; i < 64; ++i) wrong += values[i] != i;
  printf("taken %d, wrong %d\n", taken, wrong);
}
static void reap_all(int number) {
  int saved = errno;
  while (waitpid(-1, NULL, WNOHANG) > 0) seen += number == SIGCHLD;
  errno = saved;
}
static void children(void) {
  handle(SIGCHLD, reap_all, SA_RESTART | SA_NOCLDSTOP);
  for (int i = 0; i < 40; ++i) {
    if (fork() == 0) _exit(0);
    work_ms(2);
  }
  while (seen < 40) usleep(1000);
  printf("reaped %d\n", (int)seen);
}

// --- two computations that a handler switches between: each is left within the handler, on its own stack
static ucontext_t halves[2];
static volatile int running, switches, spoilt;
static void switch_halves(int number) {
  (void)number;
  const int left = running;
  running = !left;
  ++switches;
  swapcontext(&halves[left], &halves[running]);
}
static void compute(int number) {
  while (number || switches < 100) {
    volatile uint64_t kept[256];
    for (int i = 0; i < 256; ++i) kept[i] = (uint64_t)(number * 1000 + i);
    SPIN(x, STEPS_PER_MS / 20);
    for (int i = 0; i < 256; ++i) spoilt += kept[i] != (uint64_t)(number * 1000 + i);
    spoilt += running != number;
  }
}
static void preempted(void) {
  static char stack[65536];
  getcontext(&halves[1]);
  halves[1].uc_stack = (stack_t){.ss_sp = stack, .ss_size = sizeof stack};
  makecontext(&halves[1], (void (*)(void))compute, 1, 1);
  handle(SIGPROF, switch_halves, SA_RESTART);
  setitimer(ITIMER_PROF, &(struct itimerval){{0, 2000}, {0, 2000}}, NULL);
  compute(0);
  setitimer(ITIMER_PROF, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
  printf("switched %d, spoilt %d\n", switches >= 100, spoilt);
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  struct {
    const char* name;
    void (*run)(void);
  } kinds[] = {{"overflow", overflow},   {"jumps", jumps},         {"fibers", run_fibers},
               {"small", small_threads}, {"fault", fault_handler}, {"stopped", stopped},
               {"long", long_calls},     {"queued", queued},       {"children", children},
               {"preempted", preempted}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (!strcmp(kind, kinds[i].name)) kinds[i].run();
  if (!strcmp(kind, "chain")) chain((unsigned)number_argument(argc, argv, 2, 40));
  if (!strcmp(kind, "pending")) pending(0);
  if (!strcmp(kind, "pending_after")) pending(1);
}
