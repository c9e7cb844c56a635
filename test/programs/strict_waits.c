// SPDX-License-Identifier: MIT
// flags: -D_GNU_SOURCE
// strict_waits calm|own|own_prof|limits [TIMES] [CALL]: makes every call that waits and says how each ended.
// calm: on its own, TIMES times, where each is entered just when the kernel's clock ticks, so that an
// expiring timer meets it on its way in. own: interrupted by a signal of this program's, whose handler
// restarts calls or does not; with own_prof it is SIGPROF. limits: how late calls with a limit come back, in
// ns, as numbers. Nothing but limits differs from one run to the next. Context: test 52.
#include "strict_waits.h"

static struct Call {
  const char* name;
  long (*wait)(void);
  void (*end)(void);  // by the other thread
  int timed;          // its limit ends it too
} calls[] = {
    {"nanosleep", waits_nanosleep, NULL, 1},
    {"clock_nanosleep", waits_clock_nanosleep, NULL, 1},
    {"clock_nanosleep until", waits_clock_nanosleep_until, NULL, 1},
    {"usleep", waits_usleep, NULL, 1},
    {"thrd_sleep", waits_thrd_sleep, NULL, 1},
    {"pause", waits_pause, ends_by_signal, 0},
    {"sigsuspend", waits_sigsuspend, ends_by_signal, 0},
    {"poll", waits_poll, ends_by_write, 1},
    {"ppoll", waits_ppoll, ends_by_write, 1},
    {"select", waits_select, ends_by_write, 1},
    {"pselect", waits_pselect, ends_by_write, 1},
    {"epoll_wait", waits_epoll_wait, ends_by_write, 1},
    {"epoll_pwait", waits_epoll_pwait, ends_by_write, 1},
    {"read", waits_read, ends_by_write, 0},
    {"readv", waits_readv, ends_by_write, 0},
    {"read of an eventfd", waits_event, ends_by_event, 0},
    {"read of a socket", waits_socket_read, ends_by_send, 0},
    {"recv", waits_recv, ends_by_send, 0},
    {"recvfrom", waits_recvfrom, ends_by_send, 0},
    {"recvmsg", waits_recvmsg, ends_by_send, 0},
    {"accept", waits_accept, ends_by_connect, 0},
    {"accept4", waits_accept4, ends_by_connect, 0},
    {"connect", waits_connect, ends_by_accept, 0},
    {"send", waits_send, ends_by_draining, 0},
    {"sendmsg", waits_sendmsg, ends_by_draining, 0},
    {"write", waits_write, ends_by_taking, 0},
    {"writev", waits_writev, ends_by_taking, 0},
    {"write of much", writes_all, ends_by_taking, 0},
    {"send of much", sends_all, ends_by_receiving, 0},
    {"recv of all", receives_all, ends_byte_by_byte, 0},
    {"sem_wait", waits_sem_wait, ends_by_post, 0},
    {"sem_timedwait", waits_sem_timedwait, ends_by_post, 1},
    {"sem_clockwait", waits_sem_clockwait, ends_by_post, 1},
    {"pthread_cond_timedwait", waits_cond_timedwait, ends_by_condition, 1},
    {"futex", waits_futex, ends_by_futex, 0},
    {"futex_waitv", waits_futex_vector, ends_by_futex, 0},
    {"futex in time", waits_futex_in_time, ends_by_futex, 1},
    {"msgrcv", waits_msgrcv, ends_by_message, 0},
    {"msgsnd", waits_msgsnd, ends_by_taking_a_message, 0},
    {"semop", waits_semop, ends_by_giving, 0},
    {"semtimedop", waits_semtimedop, ends_by_giving, 1},
    {"flock", waits_flock, ends_by_unlock, 0},
    {"fcntl F_OFD_SETLKW", waits_ofd_lock, ends_by_ofd_unlock, 0},
    {"fcntl F_SETLKW", waits_file_lock, ends_by_kill, 0},
    {"waitpid", waits_waitpid, ends_by_kill, 0},
    {"waitid", waits_waitid, ends_by_kill, 0},
    {"sigwait", waits_sigwait, ends_by_blocked_signal, 0},
    {"sigwaitinfo", waits_sigwaitinfo, ends_by_blocked_signal, 0},
    {"sigtimedwait", waits_sigtimedwait, ends_by_blocked_signal, 1},
    {"read of a signalfd", waits_signal_descriptor, ends_by_blocked_signal, 0},
    {"io_uring_enter", waits_ring, ends_by_ring, 0},
};
enum { kCalls = sizeof calls / sizeof *calls };

/// A child that is there to end, and holds the lock of the file until then.
static void make_child(void) {
  int ready[2];
  char byte;
  if (pipe(ready)) abort();
  child = fork();
  if (child == 0) {
    struct flock lock = whole_file(F_WRLCK);
    if (fcntl(lock_file, F_SETLK, &lock) || write(ready[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
  }
  if (read(ready[0], &byte, 1) != 1) abort();
  close(ready[0]), close(ready[1]);
}
static void end_child(void) {
  if (child <= 0) return;
  kill(child, SIGKILL);
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
  child = 0;
  struct flock unlock = whole_file(F_UNLCK);
  fcntl(lock_file, F_SETLK, &unlock);
}
static int needs_child(const struct Call* call) { return call->end == ends_by_kill; }

static void drain(int fd) {
  fcntl(fd, F_SETFL, O_NONBLOCK);
  while (read(fd, big, sizeof big) > 0) continue;
  fcntl(fd, F_SETFL, 0);
}
static void fill(int fd) {
  fcntl(fd, F_SETFL, O_NONBLOCK);
  while (write(fd, big, 4096) > 0) continue;
  while (write(fd, big, 1) > 0) continue;
  fcntl(fd, F_SETFL, 0);
}
/// Everything as it is before a call that is to wait: empty or full, whatever the one before left.
static void settle(const struct Call* call) {
  drain(ends[0]), drain(pair[0]), drain(full[0]), drain(full_pair[1]);
  if (call->end == ends_by_taking && call->wait != writes_all) fill(full[1]);
  if (call->end == ends_by_draining) fill(full_pair[0]);
  fcntl(full[0], F_SETFL, O_NONBLOCK), fcntl(full_pair[1], F_SETFL, O_NONBLOCK);
  fcntl(event, F_SETFL, O_NONBLOCK);
  eventfd_t sum;
  eventfd_read(event, &sum);
  fcntl(event, F_SETFL, 0), fcntl(server, F_SETFL, O_NONBLOCK);
  for (int fd; (fd = accept(server, NULL, NULL)) >= 0;) close(fd);
  fcntl(server, F_SETFL, 0);
  sem_init(&semaphore, 0, 0);
  futex_word = 0;
  while (msgrcv(queue, &message, sizeof message.text, 0, IPC_NOWAIT) >= 0) continue;
  message.type = 1;
  while (msgsnd(full_queue, &message, sizeof message.text, IPC_NOWAIT) == 0) continue;
  semctl(semaphores, 0, SETVAL, 0);
  struct flock free_lock = whole_file(F_UNLCK), lock = whole_file(F_WRLCK);
  flock(locked, LOCK_UN), flock(holder, LOCK_EX);
  fcntl(locked, F_OFD_SETLK, &free_lock);
  fcntl(holder, F_OFD_SETLK, call->end == ends_by_ofd_unlock ? &lock : &free_lock);
  end_child();
  if (needs_child(call)) make_child();
  sigset_t set = the_blocked();
  while (sigtimedwait(&set, NULL, &(struct timespec){0, 0}) > 0) continue;
  take_completions();
}

static void make_servers(void) {
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  server = socket(AF_INET, SOCK_STREAM, 0);
  full_server = socket(AF_UNIX, SOCK_STREAM, 0);
  address.sun_family = AF_UNIX;
  snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "varve-strict-waits-%d", (int)getpid());
  if (bind(server, (struct sockaddr*)&any, sizeof any) || listen(server, 8) ||
      bind(full_server, (struct sockaddr*)&address, sizeof address) || listen(full_server, 0))
    abort();
  waits_connect();  // one waits to be accepted: the queue is full
}
static void make_objects(void) {
  if (pipe(ends) || pipe(full) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ||
      socketpair(AF_UNIX, SOCK_STREAM, 0, full_pair))
    abort();
  event = eventfd(0, 0), epoll = epoll_create1(0);
  epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &(struct epoll_event){.events = EPOLLIN});
  queue = msgget(IPC_PRIVATE, 0600), full_queue = msgget(IPC_PRIVATE, 0600);
  semaphores = semget(IPC_PRIVATE, 1, 0600);
  char path[] = "strict-waits-XXXXXX";
  lock_file = mkstemp(path), locked = open(path, O_RDWR), holder = open(path, O_RDWR);
  unlink(path);
  make_servers();
  make_ring();
}
static void remove_objects(void) {
  end_child();
  msgctl(queue, IPC_RMID, NULL), msgctl(full_queue, IPC_RMID, NULL), semctl(semaphores, 0, IPC_RMID);
}

// --- one call, and the thread that ends it
static struct {
  struct Call* call;
  int interrupts;          // by a signal before it is ended
  int round, over, ended;  // the numbers of the call that was begun, that is back, that needs no thread
} now;
static volatile sig_atomic_t handled, restarts_calls;
static pid_t first_tid;

static void on_signal(int number) { handled += number == own_signal; }
static int load(int* word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
/// In a call of the kernel's and off the processor, so that no more ticks come: the file says "running" of
/// who has only told the scheduler that it is about to sleep, as who meets a tick on its way in does.
static int is_asleep(void) {
  char path[64], text[256] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/syscall", first_tid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || read(fd, text, sizeof text - 1) < 0) abort();
  close(fd);
  return text[0] >= '0' && text[0] <= '9';
}
static int waits_until(int round, int (*so)(void)) {
  while (!so() && load(&now.over) != round) usleep(30);
  return load(&now.over) != round;
}
static int was_handled(void) { return handled > 0; }
/// A call that goes on after the handler is ended after it; one that does not is over by then.
static void* ends_calls(void* unused) {
  for (int round = 1;; ++round) {
    while (load(&now.round) != round) usleep(30);
    int waits = waits_until(round, is_asleep);
    if (waits && now.interrupts) {
      ends_by_signal();
      waits = waits_until(round, was_handled) && waits_until(round, is_asleep);
    }
    if (waits && now.call->end && (now.interrupts || !now.call->timed)) now.call->end();
    while (load(&now.over) != round) usleep(30);
    __atomic_store_n(&now.ended, round, __ATOMIC_RELEASE);
  }
  return unused;
}

/// Burns CPU time up to the next tick of the kernel's clock, less what the way into a call takes. The timer
/// of a thread that has worked for that long expires there. A tick begins before what it advances is seen, on
/// a virtual machine by 0.1 ms: it is the last time read without an advance that counts.
static void work_until_tick(unsigned round) {
  struct timespec period;
  uint64_t before = clock_ns(CLOCK_MONOTONIC_COARSE), last, next = clock_ns(CLOCK_MONOTONIC);
  clock_getres(CLOCK_MONOTONIC_COARSE, &period);
  do last = next, next = clock_ns(CLOCK_MONOTONIC);
  while (clock_ns(CLOCK_MONOTONIC_COARSE) == before);
  uint64_t tick = last + (uint64_t)period.tv_nsec;
  uint64_t ahead = 5000 + 4500 * (round % 16);  // ns
  while (clock_ns(CLOCK_MONOTONIC) + ahead < tick) continue;
}

static long make_call(struct Call* call, int interrupts, int works, uint64_t* took) {
  static int round;
  settle(call);
  handled = 0, moved_on = 0;
  now.call = call, now.interrupts = interrupts;
  if (works) work_until_tick((unsigned)round);
  uint64_t begin = clock_ns(CLOCK_MONOTONIC);
  __atomic_store_n(&now.round, ++round, __ATOMIC_RELEASE);
  long result = call->wait();
  *took = clock_ns(CLOCK_MONOTONIC) - begin;
  moved_on = 1;
  __atomic_store_n(&now.over, round, __ATOMIC_RELEASE);
  while (load(&now.ended) != round) usleep(30);
  return result;
}

static void print_result(long result) {
  if (result >= 0)
    printf(" returned %ld", result);
  else
    printf(" %s", strerrorname_np((int)-result));
}

/// How often each way to end came; more than a few ways are as good as many.
static void try_calm(struct Call* call, unsigned times) {
  enum { kWays = 8 };
  long results[kWays];
  unsigned counts[kWays] = {0}, ways = 0, early = 0, strange = 0;
  for (unsigned i = 0; i < times; ++i) {
    uint64_t took;
    long result = make_call(call, 0, 1, &took);
    early += call->timed && took < limit_ns;
    strange += handled != (call->end == ends_by_signal);
    unsigned way = 0;
    while (way < ways && results[way] != result) ++way;
    if (way == kWays) continue;
    if (way == ways) results[ways++] = result;
    ++counts[way];
  }
  printf("%s:", call->name);
  for (unsigned way = 0; way < ways; ++way) {
    print_result(results[way]);
    if (ways > 1) printf(" %u times", counts[way]);
  }
  printf(", early %u, strange %u\n", early, strange);
}

static void try_own(struct Call* call, int restart) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = restart ? SA_RESTART : 0};
  sigaction(own_signal, &action, NULL);
  uint64_t took;
  long result = make_call(call, 1, 0, &took);
  printf("%s, %s:", call->name, restart ? "SA_RESTART" : "no restart");
  print_result(result);
  printf(", handled %d\n", (int)handled);
}

static int by_number(const void* a, const void* b) {
  int64_t x = *(const int64_t*)a, y = *(const int64_t*)b;
  return (x > y) - (x < y);
}
/// The lower quartile of how late they were: what others' work delays, which is most on a busy machine, is
/// not in it.
static void try_limits(struct Call* call, unsigned times) {
  int64_t late[times];
  for (unsigned i = 0; i < times; ++i) {
    uint64_t took;
    make_call(call, 0, 1, &took);
    late[i] = (int64_t)(took - limit_ns);
  }
  qsort(late, times, sizeof *late, by_number);
  printf("%s\t%ld\n", call->name, (long)late[times / 4]);
}

int main(int argc, char** argv) {
  const char *mode = argc > 1 ? argv[1] : "calm", *only = argc > 3 ? argv[3] : NULL;
  unsigned times = (unsigned)number_argument(argc, argv, 2, 20);
  if (!strcmp(mode, "own_prof")) own_signal = SIGPROF;
  pthread_t thread;
  sigset_t set = the_blocked();
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  first_thread = pthread_self(), first_tid = getpid();
  sigaction(own_signal, &(struct sigaction){.sa_handler = on_signal}, NULL);
  make_objects();
  pthread_create(&thread, NULL, ends_calls, NULL);
  limit_ns = !strcmp(mode, "calm") ? 2000000 : !strcmp(mode, "limits") ? 10000000 : 20000000000;
  for (int i = 0; i < kCalls; ++i) {
    struct Call* call = &calls[i];
    if (only && strcmp(only, call->name)) continue;
    if (!strcmp(mode, "calm")) try_calm(call, times);
    if (!strcmp(mode, "limits") && call->timed) try_limits(call, times);
    if (!strncmp(mode, "own", 3))
      for (int restart = 0; restart < 2; ++restart) try_own(call, restart);
    fflush(stdout);
  }
  remove_objects();
}
