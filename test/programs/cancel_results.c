// SPDX-License-Identifier: MIT
// flags: -D_GNU_SOURCE
// cancel_results: cancels a thread in every call of the C library that is a point of cancellation, once before
// it calls and once while it waits there, and prints what became of thread, clean-up handler and call. A run
// with a guest in the process prints the same. Context: test 32.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>

#include "work.h"

enum { kMuch = 1 << 22 };  // bytes: more than a pipe or a socket takes
static int empty_pipe[2], full_pipe[2], empty_socket[2], full_socket[2], server, polled, queue;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static mtx_t c11_mutex;
static cnd_t c11_condition;
static sem_t semaphore;
static pthread_t sleeper;
static pid_t child;
static char* much;
static const struct timespec kLong = {60, 0};

static struct timespec later(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_sec += 60;
  return time;
}
static struct iovec vector(size_t size) { return (struct iovec){much, size}; }
static sigset_t signals(int with_sigprof) {
  sigset_t set;
  sigemptyset(&set), sigaddset(&set, SIGUSR1);
  if (with_sigprof) sigfillset(&set);
  return set;
}

static void do_read(void) { read(empty_pipe[0], much, 1); }
static void do_readv(void) { readv(empty_pipe[0], &(struct iovec){much, 1}, 1); }
static void do_write(void) { write(full_pipe[1], much, kMuch); }
static void do_writev(void) {
  struct iovec all = vector(kMuch);
  writev(full_pipe[1], &all, 1);
}
static void do_recv(void) { recv(empty_socket[0], much, 1, 0); }
static void do_recvfrom(void) { recvfrom(empty_socket[0], much, 1, 0, NULL, NULL); }
static void do_recvmsg(void) {
  struct iovec one = vector(1);
  recvmsg(empty_socket[0], &(struct msghdr){.msg_iov = &one, .msg_iovlen = 1}, 0);
}
static void do_send(void) { send(full_socket[0], much, kMuch, 0); }
static void do_sendto(void) { sendto(full_socket[0], much, kMuch, 0, NULL, 0); }
static void do_sendmsg(void) {
  struct iovec all = vector(kMuch);
  sendmsg(full_socket[0], &(struct msghdr){.msg_iov = &all, .msg_iovlen = 1}, 0);
}
static void do_accept(void) { accept(server, NULL, NULL); }
static void do_accept4(void) { accept4(server, NULL, NULL, SOCK_CLOEXEC); }
static void do_connect(void) {
  // The queue of the server holds few: one of these waits.
  for (int i = 0; i < 8; ++i) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    connect(fd, (struct sockaddr*)&address, sizeof address);
  }
}
static void do_poll(void) { poll(&(struct pollfd){empty_pipe[0], POLLIN, 0}, 1, -1); }
static void do_poll_nothing(void) { poll(NULL, 0, 60000); }
static void do_ppoll(void) {
  sigset_t set = signals(0);
  ppoll(&(struct pollfd){empty_pipe[0], POLLIN, 0}, 1, &kLong, &set);
}
static void do_select(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(empty_pipe[0], &set);
  select(empty_pipe[0] + 1, &set, NULL, NULL, NULL);
}
static void do_pselect(void) {
  sigset_t set = signals(1);
  pselect(0, NULL, NULL, NULL, &kLong, &set);
}
static void do_epoll_wait(void) { epoll_wait(polled, &(struct epoll_event){0}, 1, -1); }
static void do_epoll_pwait(void) {
  sigset_t set = signals(1);
  epoll_pwait(polled, &(struct epoll_event){0}, 1, 60000, &set);
}
static void do_nanosleep(void) { nanosleep(&kLong, NULL); }
static void do_clock_nanosleep(void) { clock_nanosleep(CLOCK_MONOTONIC, 0, &kLong, NULL); }
static void do_sleep(void) { sleep(60); }
static void do_usleep(void) { usleep(60000000); }
static void do_thrd_sleep(void) { thrd_sleep(&kLong, NULL); }
static void do_pause(void) { pause(); }
static void do_sigsuspend(void) {
  sigset_t set = signals(0);
  sigsuspend(&set);
}
static void wait_for_signals(int with_sigprof, int way) {
  sigset_t set = signals(with_sigprof);
  int number;
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (way == 0) sigwait(&set, &number);
  if (way == 1) sigwaitinfo(&set, NULL);
  if (way == 2) sigtimedwait(&set, NULL, &kLong);
}
static void do_sigwait(void) { wait_for_signals(0, 0); }
static void do_sigwait_all(void) { wait_for_signals(1, 0); }
static void do_sigwaitinfo(void) { wait_for_signals(0, 1); }
static void do_sigwaitinfo_all(void) { wait_for_signals(1, 1); }
static void do_sigtimedwait(void) { wait_for_signals(0, 2); }
static void do_sigtimedwait_all(void) { wait_for_signals(1, 2); }
static void do_sem_wait(void) { sem_wait(&semaphore); }
static void do_sem_timedwait(void) {
  struct timespec until = later(CLOCK_REALTIME);
  sem_timedwait(&semaphore, &until);
}
static void do_sem_clockwait(void) {
  struct timespec until = later(CLOCK_MONOTONIC);
  sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until);
}
static int relocked;
/// The mutex of a condition is the thread's again when its clean-up runs.
static void unlock(void* which) { relocked = pthread_mutex_unlock(which) == 0; }
static void wait_for_condition(int way) {
  struct timespec until = later(way == 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME);
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock, &mutex);
  if (way == 0) pthread_cond_wait(&condition, &mutex);
  if (way == 1) pthread_cond_timedwait(&condition, &mutex, &until);
  if (way == 2) pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until);
  pthread_cleanup_pop(1);
}
static void do_cond_wait(void) { wait_for_condition(0); }
static void do_cond_timedwait(void) { wait_for_condition(1); }
static void do_cond_clockwait(void) { wait_for_condition(2); }
static void unlock_c11(void* which) { mtx_unlock(which); }
static void do_cnd_wait(void) {
  mtx_lock(&c11_mutex);
  pthread_cleanup_push(unlock_c11, &c11_mutex);
  cnd_wait(&c11_condition, &c11_mutex);
  pthread_cleanup_pop(1);
}
static void do_join(void) { pthread_join(sleeper, NULL); }
static void do_timedjoin(void) {
  struct timespec until = later(CLOCK_REALTIME);
  pthread_timedjoin_np(sleeper, NULL, &until);
}
static void do_wait(void) { wait(NULL); }
static void do_waitpid(void) { waitpid(child, NULL, 0); }
static void do_wait3(void) { wait3(NULL, 0, NULL); }
static void do_wait4(void) { wait4(child, NULL, 0, NULL); }
static void do_waitid(void) { waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT); }
static void do_msgrcv(void) {
  struct {
    long type;
    char text[8];
  } message;
  msgrcv(queue, &message, sizeof message.text, 0, 0);
}
static void do_open(void) { close(open("here/fifo", O_RDONLY)); }
static void do_lock(void) {
  // Another process has it.
  int fd = open("here/locked", O_RDWR);
  fcntl(fd, F_SETLKW, &(struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1});
}
static void do_testcancel(void) {
  for (;;) pthread_testcancel(), usleep(100);
}
/// No points of cancellation: the thread goes on to the next, here pthread_testcancel.
static void do_mutex(void) { pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex), pthread_testcancel(); }
static void do_asynchronous(void) {
  uint64_t x = 3;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  for (;;) SPIN(x, STEPS_PER_MS);
}
static volatile int asked;  // the thread has been asked to end
static void do_disabled(void) {
  char byte = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
  struct pollfd idle = {empty_pipe[0], POLLIN, 0};
  poll(&idle, 1, 5), nanosleep(&(struct timespec){0, 1000}, NULL), read(-1, &byte, 1);
  while (!asked) usleep(100);
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
  pthread_testcancel();
}

static const struct {
  const char* name;
  void (*call)(void);
} points[] = {
    {"read", do_read},
    {"readv", do_readv},
    {"write", do_write},
    {"writev", do_writev},
    {"recv", do_recv},
    {"recvfrom", do_recvfrom},
    {"recvmsg", do_recvmsg},
    {"send", do_send},
    {"sendto", do_sendto},
    {"sendmsg", do_sendmsg},
    {"accept", do_accept},
    {"accept4", do_accept4},
    {"connect", do_connect},
    {"poll", do_poll},
    {"poll of nothing", do_poll_nothing},
    {"ppoll", do_ppoll},
    {"select", do_select},
    {"pselect", do_pselect},
    {"epoll_wait", do_epoll_wait},
    {"epoll_pwait", do_epoll_pwait},
    {"nanosleep", do_nanosleep},
    {"clock_nanosleep", do_clock_nanosleep},
    {"sleep", do_sleep},
    {"usleep", do_usleep},
    {"thrd_sleep", do_thrd_sleep},
    {"pause", do_pause},
    {"sigsuspend", do_sigsuspend},
    {"sigwait", do_sigwait},
    {"sigwait for all", do_sigwait_all},
    {"sigwaitinfo", do_sigwaitinfo},
    {"sigwaitinfo for all", do_sigwaitinfo_all},
    {"sigtimedwait", do_sigtimedwait},
    {"sigtimedwait for all", do_sigtimedwait_all},
    {"sem_wait", do_sem_wait},
    {"sem_timedwait", do_sem_timedwait},
    {"sem_clockwait", do_sem_clockwait},
    {"pthread_cond_wait", do_cond_wait},
    {"pthread_cond_timedwait", do_cond_timedwait},
    {"pthread_cond_clockwait", do_cond_clockwait},
    {"cnd_wait", do_cnd_wait},
    {"pthread_join", do_join},
    {"pthread_timedjoin_np", do_timedjoin},
    {"wait", do_wait},
    {"waitpid", do_waitpid},
    {"wait3", do_wait3},
    {"wait4", do_wait4},
    {"waitid", do_waitid},
    {"msgrcv", do_msgrcv},
    {"open", do_open},
    {"fcntl", do_lock},
    {"pthread_testcancel", do_testcancel},
    {"asynchronous", do_asynchronous},
    {"disabled", do_disabled},
};

struct Attempt {
  void (*call)(void);
  int before;  // cancelled before it calls
  volatile pid_t tid;
  volatile int cleaned, came_back;
};
static void cleaned(void* attempt) {
  uint64_t x = 5;
  SPIN(x, 3 * STEPS_PER_MS);
  ((struct Attempt*)attempt)->cleaned = 1 + (x == 0);
}
static void* runs(void* argument) {
  struct Attempt* attempt = argument;
  pthread_cleanup_push(cleaned, attempt);
  if (attempt->before) pthread_cancel(pthread_self());
  attempt->tid = gettid();
  attempt->call();
  attempt->came_back = 1;
  pthread_cleanup_pop(0);
  return NULL;
}
/// Until the thread sleeps or, as do_asynchronous, never does.
static void wait_until_it_waits(const struct Attempt* attempt) {
  char path[64], state = 0;
  for (int i = 0; i < 60 && state != 'S'; ++i) {
    usleep(500);
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", attempt->tid);
    FILE* file = attempt->tid ? fopen(path, "r") : NULL;
    if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 0;
    if (file) fclose(file);
  }
}
static void cancel_in(int point, int before) {
  struct Attempt attempt = {.call = points[point].call, .before = before};
  pthread_t thread;
  void* result = NULL;
  relocked = asked = 0;
  if (pthread_create(&thread, NULL, runs, &attempt)) exit(3);
  if (!before) wait_until_it_waits(&attempt), pthread_cancel(thread);
  asked = 1;
  pthread_join(thread, &result);
  printf("%-24s %s: %s, cleaned up %d, came back %d, unlocked %d\n", points[point].name,
         before ? "before" : "within", result == PTHREAD_CANCELED ? "cancelled" : "ended", attempt.cleaned,
         attempt.came_back, relocked);
}

static void fill(int fd) {
  int flags = fcntl(fd, F_GETFL);
  fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  while (write(fd, much, 4096) > 0) {}
  fcntl(fd, F_SETFL, flags);
}
static void* sleeps(void* unused) {
  for (;;) pause();
  return unused;
}
static void prepare(void) {
  much = calloc(1, kMuch);
  if (pipe(empty_pipe) || pipe(full_pipe)) exit(3);
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, empty_socket) || socketpair(AF_UNIX, SOCK_STREAM, 0, full_socket))
    exit(3);
  fill(full_pipe[1]), fill(full_socket[0]);
  server = socket(AF_UNIX, SOCK_STREAM, 0);
  strcpy(address.sun_path, "here/server");
  if (bind(server, (struct sockaddr*)&address, sizeof address) || listen(server, 0)) exit(3);
  polled = epoll_create1(0);
  epoll_ctl(polled, EPOLL_CTL_ADD, empty_pipe[0], &(struct epoll_event){.events = EPOLLIN});
  queue = msgget(IPC_PRIVATE, 0600);
  mkfifo("here/fifo", 0600);
  sem_init(&semaphore, 0, 0);
  mtx_init(&c11_mutex, mtx_plain), cnd_init(&c11_condition);
  pthread_create(&sleeper, NULL, sleeps, NULL);
  int locked = open("here/locked", O_RDWR | O_CREAT, 0600);
  if ((child = fork()) == 0) {
    fcntl(locked, F_SETLK, &(struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1});
    for (;;) pause();
  }
  struct flock lock = {.l_type = F_UNLCK};
  while (lock.l_type == F_UNLCK) {
    lock = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    usleep(500), fcntl(locked, F_GETLK, &lock);
  }
}

int main(void) {
  alarm(60);
  prepare();
  for (int point = 0; point < (int)(sizeof points / sizeof *points); ++point) {
    cancel_in(point, 1);
    cancel_in(point, 0);
  }
  pthread_mutex_lock(&mutex);
  struct Attempt attempt = {.call = do_mutex};
  pthread_t thread;
  void* result = NULL;
  pthread_create(&thread, NULL, runs, &attempt);
  wait_until_it_waits(&attempt);
  pthread_cancel(thread);
  usleep(2000);
  printf("in pthread_mutex_lock: cleaned up %d\n", attempt.cleaned);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, &result);
  printf("after it: %d, cleaned up %d\n", result == PTHREAD_CANCELED, attempt.cleaned);
  printf("mutex free: %d\n", pthread_mutex_trylock(&mutex));
  kill(child, SIGKILL);
  printf("child: %d\n", waitpid(child, NULL, 0) == child);
  msgctl(queue, IPC_RMID, NULL);
}
