// SPDX-License-Identifier: MIT
// wait_truth WHAT: threads that wait for one kind of object, a known number of times, and measure each wait
// themselves. The last line is JSON: how many waits of the object there were, how long they took together,
// and the name of the thread that ended them. Context: tests.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { kRounds = 20 };

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void spin(unsigned ms) {
  const uint64_t end = now() + ms * 1000000ull;
  while (now() < end) {
  }
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier, start;
static sem_t semaphore;
static int turn;
static uint64_t waits, waited_ns;

static int waiting;  // set while the waiter is about to wait, waits or has waited
static int waiter_tid;

// What the waiter does; the macro keeps each wait on a line of its own.
#define TIMED(call)                                   \
  do {                                                \
    __atomic_store_n(&waiting, 1, __ATOMIC_SEQ_CST);  \
    const uint64_t begin = now();                     \
    call;                                             \
    waited_ns += now() - begin;                       \
    ++waits;                                          \
    __atomic_store_n(&waiting, 0, __ATOMIC_SEQ_CST);  \
  } while (0)

// A waiter that has no processor until all is over has not waited: the kernel says when it does.
static void see_it_wait(void) {
  char name[64], state = 0;
  snprintf(name, sizeof name, "/proc/self/task/%d/stat", __atomic_load_n(&waiter_tid, __ATOMIC_SEQ_CST));
  while (state != 'S') {
    while (!__atomic_load_n(&waiting, __ATOMIC_SEQ_CST)) sched_yield();
    FILE* file = fopen(name, "r");
    if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 'S';
    if (file) fclose(file);
  }
}

static void meet(void) { pthread_barrier_wait(&start); }

static void mutex_waiter(void) {
  TIMED(pthread_mutex_lock(&lock));
  pthread_mutex_unlock(&lock);
}
static void mutex_holder(void) { spin(8), pthread_mutex_unlock(&lock); }

static void condition_waiter(void) {
  pthread_mutex_lock(&lock);
  while (!turn) TIMED(pthread_cond_wait(&changed, &lock));
  turn = 0;
  pthread_mutex_unlock(&lock);
}
static void condition_holder(void) {
  spin(8);
  pthread_mutex_lock(&lock);
  turn = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
}

static void reader(void) {
  TIMED(pthread_rwlock_rdlock(&rwlock));
  pthread_rwlock_unlock(&rwlock);
}
static void writer(void) { spin(8), pthread_rwlock_unlock(&rwlock); }

static void semaphore_waiter(void) { TIMED(sem_wait(&semaphore)); }
static void semaphore_holder(void) { spin(8), sem_post(&semaphore); }

static void early(void) { TIMED(pthread_barrier_wait(&barrier)); }
static void late(void) { spin(8), pthread_barrier_wait(&barrier); }

static void sleeper(void) {
  struct timespec time = {0, 8000000};
  TIMED(nanosleep(&time, 0));
}
static void nothing(void) {}

// Each round begins with a new control. The holder is in its routine by the time that both have met.
static pthread_once_t once;
static once_flag c11_once;
static void initialize(void) { meet(), see_it_wait(), spin(8); }
static void once_waiter(void) { TIMED(pthread_once(&once, initialize)); }
static void call_once_waiter(void) { TIMED(call_once(&c11_once, initialize)); }
static void once_holder(void) {}

static mtx_t c11_lock;
static void mtx_waiter(void) {
  TIMED(mtx_lock(&c11_lock));
  mtx_unlock(&c11_lock);
}
static void mtx_holder(void) { spin(8), mtx_unlock(&c11_lock); }

static int word;
static void futex_waiter(void) {
  while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE)) TIMED(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0));
  word = 0;
}
static void futex_holder(void) {
  spin(8);
  __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

static int queue, full_queue;
static struct { long type; char text[8]; } message = {1, "text"};
static void queue_waiter(void) { TIMED(msgrcv(queue, &message, sizeof message.text, 0, 0)); }
static void queue_holder(void) { spin(8), msgsnd(queue, &message, sizeof message.text, 0); }
static void queue_sender(void) { TIMED(msgsnd(full_queue, &message, sizeof message.text, 0)); }
static void queue_receiver(void) { spin(8), msgrcv(full_queue, &message, sizeof message.text, 0, 0); }

static int set;
static void change_set(short by) { semop(set, &(struct sembuf){0, by, 0}, 1); }
static void set_waiter(void) { TIMED(change_set(-1)); }
static void set_holder(void) { spin(8), change_set(1); }

// Of one file, opened twice.
static int files[2];
static void flock_waiter(void) {
  TIMED(flock(files[0], LOCK_EX));
  flock(files[0], LOCK_UN);
}
static void flock_holder(void) { spin(8), flock(files[1], LOCK_UN); }
static void lock_file(int which, int command, short type) {
  struct flock lock_of = {.l_type = type, .l_whence = SEEK_SET};
  fcntl(files[which], command, &lock_of);
}
static void fcntl_waiter(void) {
  TIMED(lock_file(0, F_OFD_SETLKW, F_WRLCK));
  lock_file(0, F_OFD_SETLK, F_UNLCK);
}
static void fcntl_holder(void) { spin(8), lock_file(1, F_OFD_SETLK, F_UNLCK); }

// By a pipe: from holder to waiter, and one that is full.
static int pipe_ends[2], full_pipe[2];
static char bytes[65536];
static void pipe_reader(void) { TIMED((void)!read(pipe_ends[0], bytes, 1)); }
static void pipe_writer(void) { spin(8), (void)!write(pipe_ends[1], bytes, 1); }
static void full_pipe_writer(void) { TIMED((void)!write(full_pipe[1], bytes, 4096)); }
static void full_pipe_reader(void) { spin(8), (void)!read(full_pipe[0], bytes, 8192); }
static void poller(void) {
  struct pollfd fds[2] = {{full_pipe[0], POLLIN, 0}, {pipe_ends[0], POLLIN, 0}};
  TIMED(poll(fds, 2, -1));
  (void)!read(pipe_ends[0], bytes, 1);
}

// By a connection to ourselves.
static int near_end, far_end;
static void connect_ends(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  near_end = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr*)&address, size) || listen(listener, 1)) return;
  getsockname(listener, (struct sockaddr*)&address, &size);
  if (connect(near_end, (struct sockaddr*)&address, size) == 0) far_end = accept(listener, 0, 0);
  close(listener);
}
static void socket_reader(void) { TIMED(recv(near_end, bytes, 1, 0)); }
static void socket_writer(void) { spin(8), send(far_end, bytes, 1, 0); }

static pthread_t waiter;
static sigset_t awaited;
static void handled(int unused) { (void)unused; }
static void signal_waiter(void) {
  int number;
  TIMED(sigwait(&awaited, &number));
}
static void pause_waiter(void) { TIMED(sigsuspend(&(sigset_t){0})); }
static void signaller(void) { spin(8), pthread_kill(waiter, SIGUSR1); }

struct Kind {
  const char* name;
  void (*waiter)(void);
  void (*holder)(void);
};
static const struct Kind kinds[] = {{"mutex", mutex_waiter, mutex_holder},
                                    {"condition", condition_waiter, condition_holder},
                                    {"rwlock", reader, writer},
                                    {"semaphore", semaphore_waiter, semaphore_holder},
                                    {"barrier", early, late},
                                    {"sleep", sleeper, nothing},
                                    {"once", once_waiter, once_holder},
                                    {"call_once", call_once_waiter, once_holder},
                                    {"mtx", mtx_waiter, mtx_holder},
                                    {"futex", futex_waiter, futex_holder},
                                    {"msgrcv", queue_waiter, queue_holder},
                                    {"msgsnd", queue_sender, queue_receiver},
                                    {"semop", set_waiter, set_holder},
                                    {"flock", flock_waiter, flock_holder},
                                    {"fcntl", fcntl_waiter, fcntl_holder},
                                    {"pipe", pipe_reader, pipe_writer},
                                    {"full_pipe", full_pipe_writer, full_pipe_reader},
                                    {"poll", poller, pipe_writer},
                                    {"socket", socket_reader, socket_writer},
                                    {"sigwait", signal_waiter, signaller},
                                    {"sigsuspend", pause_waiter, signaller}};
static const struct Kind* kind;

// How long this thread was ready and had no processor: its own clock counts that after each wait.
static unsigned long ready_ns;
static void read_ready(void) {
  FILE* file = fopen("/proc/thread-self/schedstat", "r");
  if (!file || fscanf(file, "%*u %lu", &ready_ns) != 1) ready_ns = 0;
  if (file) fclose(file);
}

static void* wait_for_it(void* unused) {
  __atomic_store_n(&waiter_tid, gettid(), __ATOMIC_SEQ_CST);
  for (int i = 0; i < kRounds; ++i) meet(), kind->waiter(), meet();
  read_ready();
  return unused;
}

static void fill_pipe(void) {
  struct pollfd full = {full_pipe[1], POLLOUT, 0};
  while (poll(&full, 1, 0) == 1) (void)!write(full_pipe[1], bytes, 4096);
}
static void fill_queue(void) {
  while (msgsnd(full_queue, &message, sizeof message.text, IPC_NOWAIT) == 0) {
  }
}

static void prepare(void) {
  pthread_barrier_init(&barrier, 0, 2);
  pthread_barrier_init(&start, 0, 2);
  sem_init(&semaphore, 0, 0);
  mtx_init(&c11_lock, mtx_plain);
  queue = msgget(IPC_PRIVATE, 0600), full_queue = msgget(IPC_PRIVATE, 0600);
  set = semget(IPC_PRIVATE, 1, 0600);
  char name[] = "wait_truth.XXXXXX";
  files[0] = mkstemp(name), files[1] = open(name, O_RDWR);
  unlink(name);
  if (pipe(pipe_ends) || pipe(full_pipe)) exit(3);
  connect_ends();
  sigemptyset(&awaited), sigaddset(&awaited, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &awaited, 0);
  signal(SIGUSR1, handled);
}

static void clean_up(void) {
  msgctl(queue, IPC_RMID, 0), msgctl(full_queue, IPC_RMID, 0);
  semctl(set, 0, IPC_RMID);
}

// Takes what the waiter will wait for before both meet; they meet again once the waiter has it no more.
static void* let_go(void* unused) {
  for (int i = 0; i < kRounds; ++i) {
    if (kind->holder == mutex_holder) pthread_mutex_lock(&lock);
    if (kind->holder == writer) pthread_rwlock_wrlock(&rwlock);
    if (kind->holder == mtx_holder) mtx_lock(&c11_lock);
    if (kind->holder == flock_holder) flock(files[1], LOCK_EX);
    if (kind->holder == fcntl_holder) lock_file(1, F_OFD_SETLK, F_WRLCK);
    if (kind->holder == queue_receiver) fill_queue();
    if (kind->holder == full_pipe_reader) fill_pipe();
    if (kind->waiter == once_waiter) once = PTHREAD_ONCE_INIT, pthread_once(&once, initialize);
    else if (kind->waiter == call_once_waiter) c11_once = (once_flag)ONCE_FLAG_INIT, call_once(&c11_once, initialize);
    else meet();
    if (kind->holder != nothing && kind->holder != once_holder) see_it_wait();
    kind->holder();
    meet();
  }
  return unused;
}

int main(int count, char** words) {
  for (size_t i = 0; count == 2 && i < sizeof kinds / sizeof *kinds; ++i)
    if (!strcmp(kinds[i].name, words[1])) kind = &kinds[i];
  if (!kind) return 2;
  prepare();
  pthread_t holder;
  pthread_create(&waiter, 0, wait_for_it, 0);
  pthread_setname_np(waiter, "waiter");
  pthread_create(&holder, 0, let_go, 0);
  pthread_setname_np(holder, "holder");
  pthread_join(waiter, 0);
  pthread_join(holder, 0);
  clean_up();
  printf("{\"waits\": %lu, \"waited_ns\": %lu, \"ready_ns\": %lu}\n", (unsigned long)waits,
         (unsigned long)waited_ns, ready_ns);
  return 0;
}
