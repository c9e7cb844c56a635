// SPDX-License-Identifier: MIT
// good_guest KIND: what a guest in the process must leave alone: errno, calls that wait, the alternate stack,
// malloc, children. It works under many ticks and counts what changed. Context: test 51.
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "work.h"

static uint64_t x = 23;
static int finished;

static void check_errno(void) {
  unsigned long changed = 0;
  for (int i = 1; i <= 4000; ++i) {
    errno = i % 130;
    SPIN(x, STEPS_PER_MS / 10);
    changed += errno != i % 130;
  }
  printf("{\"changed\": %lu}\n", changed);
}

/// A thread that waits without end sees no tick: its CPU clock stands still. One that works between short
/// waits does.
enum { kRead, kPoll, kEpoll, kSleep, kSemaphore, kAccept, kCalls };
static unsigned long interrupted[kCalls], calls[kCalls];
static void note(int call, int failed) {
  ++calls[call];
  interrupted[call] += failed && errno == EINTR;
}
static void* writer(void* argument) {
  for (int fd = *(int*)argument; !__atomic_load_n(&finished, __ATOMIC_RELAXED); usleep(300))
    if (write(fd, "x", 1) < 0) break;
  return NULL;
}
static void check_eintr(void) {
  int ends[2], server = socket(AF_INET, SOCK_STREAM, 0), epoll = epoll_create1(0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  pthread_t thread;
  sem_t semaphore;
  char byte;
  sem_init(&semaphore, 0, 0);
  if (pipe(ends) || bind(server, (struct sockaddr*)&address, sizeof address) || listen(server, 1)) exit(1);
  // Where nobody connects, accept() waits so long.
  setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){0, 1000}, sizeof(struct timeval));
  epoll_ctl(epoll, EPOLL_CTL_ADD, server, &(struct epoll_event){.events = EPOLLIN});
  pthread_create(&thread, NULL, writer, &ends[1]);
  for (int i = 0; i < 1200; ++i) {
    SPIN(x, STEPS_PER_MS / 5);
    struct timespec until;
    note(kRead, read(ends[0], &byte, 1) < 0);
    note(kPoll, poll(&(struct pollfd){server, POLLIN, 0}, 1, 1) < 0);
    note(kEpoll, epoll_wait(epoll, &(struct epoll_event){0}, 1, 1) < 0);
    note(kSleep, nanosleep(&(struct timespec){0, 200000}, NULL) < 0);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 200000;
    if (until.tv_nsec >= 1000000000) until.tv_sec += 1, until.tv_nsec -= 1000000000;
    note(kSemaphore, sem_timedwait(&semaphore, &until) < 0);
    // It ends at a tick of the scheduler, so all above is over before the next one: without more to do, at
    // times, ticks would come by chance only.
    if (i % 8 == 0) SPIN(x, 5 * STEPS_PER_MS);
    note(kAccept, accept(server, NULL, NULL) < 0);
  }
  __atomic_store_n(&finished, 1, __ATOMIC_RELAXED);
  pthread_join(thread, NULL);
  printf(
      "{\"read\": %lu, \"poll\": %lu, \"epoll_wait\": %lu, \"nanosleep\": %lu, \"sem_timedwait\": %lu, "
      "\"accept\": %lu}\n",
      interrupted[kRead], interrupted[kPoll], interrupted[kEpoll], interrupted[kSleep],
      interrupted[kSemaphore], interrupted[kAccept]);
}

static void check_alternate_stack(void) {
  static char mine[32768];
  stack_t before, set = {.ss_sp = mine, .ss_size = sizeof mine}, now, after, last;
  sigaltstack(NULL, &before);
  sigaltstack(&set, NULL);
  SPIN(x, 100 * STEPS_PER_MS);
  sigaltstack(NULL, &now);
  sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, &after);
  SPIN(x, 100 * STEPS_PER_MS);
  sigaltstack(NULL, &last);
  printf("{\"before\": %d, \"mine\": %d, \"after\": %d, \"last\": %d}\n", before.ss_flags == SS_DISABLE,
         now.ss_sp == mine, after.ss_sp == mine, last.ss_flags == SS_DISABLE);
}

/// Children are reaped as without a guest: status, usage, errors, and a wait can be cancelled.
static pid_t child(int seconds, int code) {
  pid_t pid = fork();
  if (pid == 0) sleep((unsigned)seconds), _exit(code);
  return pid;
}
static void* wait_for_child(void* pid) { return waitpid(*(pid_t*)pid, NULL, 0), NULL; }
static void check_reaping(void) {
  int status = 0, right = 0;
  struct rusage usage = {.ru_maxrss = -1};
  pid_t pid = child(0, 7);
  right += wait(&status) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7;
  pid = child(0, 8);
  right += waitpid(pid, NULL, 0) == pid;
  pid = child(0, 9);
  right += wait4(pid, &status, 0, &usage) == pid && WEXITSTATUS(status) == 9 && usage.ru_maxrss > 0;
  pid = child(0, 10);
  right += wait3(NULL, 0, NULL) == pid;
  errno = 0;
  right += waitpid(-1, &status, 0) == -1 && errno == ECHILD;
  pid = child(60, 0);
  errno = 0;
  right += waitpid(pid, &status, WNOHANG) == 0 && errno == 0;
  pthread_t thread;
  void* result = NULL;
  pthread_create(&thread, NULL, wait_for_child, &pid);
  usleep(50000);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  right += result == PTHREAD_CANCELED;
  kill(pid, SIGSTOP);
  right += waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status);
  kill(pid, SIGKILL);
  right += waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  printf("{\"right\": %d}\n", right);
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  if (!strcmp(kind, "errno")) check_errno();
  if (!strcmp(kind, "eintr")) check_eintr();
  if (!strcmp(kind, "reaping")) check_reaping();
  if (!strcmp(kind, "altstack")) check_alternate_stack();
}
