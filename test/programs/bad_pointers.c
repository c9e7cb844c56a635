// SPDX-License-Identifier: MIT
// flags: -D_GNU_SOURCE -Wno-nonnull -Wno-stringop-overflow
// bad_pointers: calls with arguments that are in no memory, or just before the end of it, or out of range.
// Says what each answers; SIGSEGV is an answer too: the C library reads some in user mode. Context: test 64.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "work.h"

static sigjmp_buf back;
static char* edge;  // memory ends here
static void* nowhere;
static volatile int child_status;

static void on_fault(int number) { siglongjmp(back, number); }

/// Each of the calls has its turn with every one of these.
#define ANSWER(name, call)                                                                           \
  do {                                                                                               \
    errno = 0;                                                                                       \
    if (sigsetjmp(back, 1) == 0) {                                                                   \
      long result_ = (long)(call);                                                                   \
      printf("%s: %ld %s\n", name, result_ > 2 ? 2 : result_, errno ? strerrorname_np(errno) : "-"); \
    } else                                                                                           \
      printf("%s: SIGSEGV\n", name);                                                                 \
    fflush(stdout);                                                                                  \
  } while (0)

/// The kernel's eight bytes of a set, at the end of memory.
static sigset_t* set_at_edge(int with_sigprof) {
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV);
  if (!with_sigprof) sigdelset(&all, SIGPROF);
  memcpy(edge - 8, &all, 8);
  return (sigset_t*)(edge - 8);
}
static pid_t ended_child(void) {
  pid_t child = fork();
  if (child == 0) _exit(3);
  siginfo_t info;
  waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
  return child;
}
/// Blocked and pending: what a wait takes at once.
static void send_self(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  sigprocmask(SIG_BLOCK, &set, NULL);
  raise(number);
}

static void signal_calls(void* bad) {
  struct timespec soon = {0, 1000000}, wrong = {0, 2000000000}, negative = {-1, 0};
  sigset_t prof;
  sigemptyset(&prof);
  sigaddset(&prof, SIGPROF);
  sigaddset(&prof, SIGUSR1);
  siginfo_t info;
  ANSWER("sigwaitinfo, set", sigwaitinfo(bad, &info));
  ANSWER("sigtimedwait, set", sigtimedwait(bad, &info, &soon));
  ANSWER("sigwait, set", sigwait(bad, &(int){0}));
  ANSWER("sigtimedwait, limit", bad ? sigtimedwait(&prof, &info, bad) : 0);
  ANSWER("sigtimedwait, wrong limit", sigtimedwait(&prof, &info, &wrong));
  ANSWER("sigtimedwait, negative limit", sigtimedwait(&prof, &info, &negative));
  send_self(SIGUSR1);
  ANSWER("sigtimedwait, info", sigtimedwait(&prof, bad, &soon));
  send_self(SIGPROF);
  ANSWER("sigtimedwait of SIGPROF, info", sigtimedwait(&prof, bad, &soon));
  ANSWER("nothing pending", sigtimedwait(&prof, NULL, &soon));
  ANSWER("sigsuspend", bad ? sigsuspend(bad) : 0);
  ANSWER("signalfd", signalfd(-1, bad, 0));
  ANSWER("sigprocmask, before", bad ? sigprocmask(SIG_BLOCK, &prof, bad) : 0);
  ANSWER("sigprocmask, how", sigprocmask(77, &prof, NULL));
  ANSWER("sigprocmask, set", sigprocmask(SIG_BLOCK, bad, NULL));
  ANSWER("pthread_sigmask, set", pthread_sigmask(SIG_BLOCK, bad, NULL));
  ANSWER("sigaction, action", sigaction(SIGUSR2, bad, NULL));
  ANSWER("sigaction of SIGPROF, action", sigaction(SIGPROF, bad, NULL));
  ANSWER("sigaction of SIGPROF, before", sigaction(SIGPROF, NULL, bad));
  ANSWER("sigaction of SIGBUS, action", sigaction(SIGBUS, bad, NULL));
  ANSWER("sigaction of SIGBUS, before", sigaction(SIGBUS, NULL, bad));
  ANSWER("sigaction, signal", sigaction(99, &(struct sigaction){.sa_handler = SIG_IGN}, NULL));
  ANSWER("sigaction, signal of the C library", sigaction(SIGRTMIN - 1, bad, NULL));
  ANSWER("sigaction, no such signal", sigaction(99, bad, NULL));
  ANSWER("sigaction of SIGKILL", sigaction(SIGKILL, &(struct sigaction){.sa_handler = SIG_IGN}, NULL));
  ANSWER("signal", signal(99, SIG_IGN) == SIG_ERR);
  ANSWER("sigaltstack", sigaltstack(bad, NULL));
  ANSWER("sigaltstack, before", sigaltstack(NULL, bad));
  ANSWER("sigaltstack, size", sigaltstack(&(stack_t){.ss_sp = edge - 64, .ss_size = 64}, NULL));
  ANSWER("sigaltstack, flags", sigaltstack(&(stack_t){.ss_flags = 0x7f}, NULL));
}

static void waiting_calls(void* bad) {
  struct timespec soon = {0, 1000000}, wrong = {0, 2000000000};
  struct pollfd none = {-1, POLLIN, 0};
  struct epoll_event event;
  int epoll = epoll_create1(EPOLL_CLOEXEC), ends[2];
  sem_t semaphore;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  sem_init(&semaphore, 0, 0);
  if (pipe(ends)) abort();
  ANSWER("nanosleep", nanosleep(bad, NULL));
  ANSWER("nanosleep, wrong", nanosleep(&wrong, NULL));
  ANSWER("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, 0, bad, NULL));
  ANSWER("clock_nanosleep, clock", clock_nanosleep(77, 0, &soon, NULL));
  ANSWER("poll", poll(bad, 1, 1));
  ANSWER("poll of too many", poll(&none, (nfds_t)-1, 1));
  ANSWER("ppoll, fds", ppoll(bad, 1, &soon, NULL));
  ANSWER("ppoll, limit", ppoll(&none, 1, bad ? bad : &soon, NULL));
  ANSWER("ppoll, mask", ppoll(&none, 1, &soon, bad));
  ANSWER("select, set", select(1, bad, NULL, NULL, &(struct timeval){0, 1000}));
  ANSWER("select, negative", select(-1, NULL, NULL, NULL, &(struct timeval){0, 1000}));
  ANSWER("select, limit", bad ? select(0, NULL, NULL, NULL, bad) : 0);
  ANSWER("pselect, set", pselect(1, NULL, bad, NULL, &soon, NULL));
  ANSWER("pselect, mask", pselect(0, NULL, NULL, NULL, &soon, bad));
  ANSWER("epoll_wait", epoll_wait(epoll, bad, 1, 1));
  ANSWER("epoll_wait of none", epoll_wait(epoll, &event, 0, 1));
  ANSWER("epoll_wait, descriptor", epoll_wait(-1, &event, 1, 1));
  ANSWER("epoll_pwait, mask", epoll_pwait(epoll, &event, 1, 1, bad));
  ANSWER("read", write(ends[1], "abc", 3) == 3 ? read(ends[0], bad, 3) : 0);
  ANSWER("read, descriptor", read(-1, edge - 8, 8));
  ANSWER("write", write(ends[1], bad, 3));
  ANSWER("readv", readv(ends[0], bad, 1));
  ANSWER("writev", writev(ends[1], bad, 1));
  ANSWER("recv, no socket", recv(ends[0], edge - 8, 8, 0));
  ANSWER("recvmsg", recvmsg(ends[0], bad, 0));
  ANSWER("sendmsg", sendmsg(ends[0], bad, 0));
  ANSWER("accept", accept(ends[0], bad, NULL));
  ANSWER("connect", connect(socket(AF_INET, SOCK_STREAM, 0), bad, 16));
  ANSWER("sem_timedwait", sem_timedwait(&semaphore, &wrong));
  ANSWER("pthread_cond_timedwait", pthread_cond_timedwait(&condition, &mutex, &wrong));
  ANSWER("fcntl F_SETLKW", fcntl(ends[0], F_SETLKW, bad));
  close(epoll), close(ends[0]), close(ends[1]);
}

extern char** environ;
static void process_calls(void* bad) {
  char* self[] = {"true", NULL};
  char* bad_strings[] = {bad ? bad : edge, NULL};
  pid_t pid = ended_child();
  ANSWER("waitpid, status", bad ? waitpid(pid, bad, 0) : 0);
  ANSWER("waitpid, again", waitpid(pid, NULL, 0));
  pid = ended_child();
  ANSWER("wait4, usage", wait4(pid, NULL, 0, bad));
  ANSWER("waitpid, nobody", waitpid(getpid(), NULL, 0));
  ANSWER("waitpid, options", waitpid(-1, NULL, 0x7fff0000));
  ANSWER("execve, path", execve(bad, self, environ));
  ANSWER("execve, arguments", bad ? execve("/bin/true", bad, environ) : 0);
  ANSWER("execve, argument", execve("/bin/true", bad_strings, environ));
  ANSWER("execve, environment", bad ? execve("/bin/true", self, bad) : 0);
  ANSWER("execve, entry", execve("/bin/true", self, bad_strings));
  ANSWER("execve, entry without end", (edge[-1] = 'x', execve("/bin/true", self, (char*[]){edge - 1, NULL})));
  ANSWER("execve, entries without end",
         (memcpy(edge - 8, &self[0], 8), execve("/bin/true", self, (char**)(edge - 8))));
  ANSWER("posix_spawn, environment", bad ? posix_spawn(&pid, "/bin/true", NULL, NULL, self, bad) : 0);
  ANSWER("posix_spawn, entry", posix_spawn(&pid, "/bin/true", NULL, NULL, self, bad_strings));
}

/// What is right as far as the kernel looks.
static void edges(int with_sigprof) {
  struct timespec soon = {0, 1000000};
  struct pollfd none = {-1, POLLIN, 0};
  sigset_t* set = set_at_edge(with_sigprof);
  printf("at the end of memory, SIGPROF %d\n", with_sigprof);
  ANSWER("sigtimedwait", sigtimedwait(set, NULL, &soon));
  ANSWER("ppoll", ppoll(&none, 1, &soon, set));
  ANSWER("pselect", pselect(0, NULL, NULL, NULL, &soon, set));
  ANSWER("epoll_pwait", epoll_pwait(epoll_create1(EPOLL_CLOEXEC), &(struct epoll_event){0}, 1, 1, set));
  ANSWER("signalfd", signalfd(-1, set, 0));
  memcpy(edge - sizeof soon, &soon, sizeof soon);
  ANSWER("nanosleep", nanosleep((struct timespec*)(edge - sizeof soon), NULL));
}

int main(void) {
  uint64_t x = 41;
  char* memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  edge = memory + 4096;
  mprotect(edge, 4096, PROT_NONE);
  nowhere = edge + 64;
  struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_NODEFER};
  sigaction(SIGSEGV, &action, NULL);
  void* bad[] = {nowhere, (void*)8, (void*)-8, NULL};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    printf("bad pointer %zu\n", i);
    signal_calls(bad[i]);
    SPIN(x, 30 * STEPS_PER_MS);
    waiting_calls(bad[i]);
    process_calls(bad[i]);
  }
  edges(0), edges(1);
}
