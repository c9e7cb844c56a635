// SPDX-License-Identifier: MIT
// Every call that waits, as one that the test program strict_waits makes and as one that another thread ends.
// Context: strict_waits.c alone; all state is static.
#pragma once

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>

#include "work.h"

enum { kBig = 300000 };
static char big[kBig];
static int ends[2], full[2], pair[2], full_pair[2], server, client, full_server, event, epoll, locked, holder;
static int queue, full_queue, semaphores, lock_file;
static uint32_t futex_word;
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_t first_thread;
static pid_t child;
static int own_signal = SIGUSR1;  // what ends a wait for a signal
static uint64_t limit_ns;         // of the calls that have a limit
static struct sockaddr_un address;
static struct {
  long type;
  char text[1000];
} message = {1, ""};

static long answer(long result) { return result < 0 ? -errno : result; }
static struct timespec limit(void) {
  return (struct timespec){(time_t)(limit_ns / 1000000000), (long)(limit_ns % 1000000000)};
}
static struct timespec until(clockid_t clock) {
  uint64_t end = clock_ns(clock) + limit_ns;
  return (struct timespec){(time_t)(end / 1000000000), (long)(end % 1000000000)};
}
static int limit_ms(void) { return (int)(limit_ns / 1000000); }

// --- sleeps
static long waits_nanosleep(void) {
  struct timespec time = limit();
  return answer(nanosleep(&time, NULL));
}
static long waits_clock_nanosleep(void) {
  struct timespec time = limit();
  return -clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}
static long waits_clock_nanosleep_until(void) {
  struct timespec time = until(CLOCK_MONOTONIC);
  return -clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}
static long waits_usleep(void) { return answer(usleep((useconds_t)(limit_ns / 1000))); }
static long waits_thrd_sleep(void) {
  struct timespec time = limit();
  return thrd_sleep(&time, NULL);
}
static long waits_pause(void) { return answer(pause()); }
static long waits_sigsuspend(void) {
  sigset_t none;
  sigemptyset(&none);
  return answer(sigsuspend(&none));
}
static void ends_by_signal(void) { pthread_kill(first_thread, own_signal); }

// --- descriptors that become readable
static struct pollfd polled(void) { return (struct pollfd){ends[0], POLLIN, 0}; }
static long waits_poll(void) {
  struct pollfd one = polled();
  return answer(poll(&one, 1, limit_ms()));
}
static long waits_ppoll(void) {
  struct pollfd one = polled();
  struct timespec time = limit();
  return answer(ppoll(&one, 1, &time, NULL));
}
static fd_set selected(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  return set;
}
static long waits_select(void) {
  fd_set set = selected();
  struct timeval time = {(time_t)(limit_ns / 1000000000), (suseconds_t)(limit_ns % 1000000000 / 1000)};
  return answer(select(ends[0] + 1, &set, NULL, NULL, &time));
}
static long waits_pselect(void) {
  fd_set set = selected();
  struct timespec time = limit();
  return answer(pselect(ends[0] + 1, &set, NULL, NULL, &time, NULL));
}
static struct epoll_event found;
static long waits_epoll_wait(void) { return answer(epoll_wait(epoll, &found, 1, limit_ms())); }
static long waits_epoll_pwait(void) { return answer(epoll_pwait(epoll, &found, 1, limit_ms(), NULL)); }
static long waits_read(void) { return answer(read(ends[0], big, sizeof big)); }
static long waits_readv(void) { return answer(readv(ends[0], &(struct iovec){big, sizeof big}, 1)); }
static void ends_by_write(void) {
  if (write(ends[1], "x", 1) != 1) abort();
}
static long waits_event(void) { return answer(read(event, big, 8)); }
static void ends_by_event(void) {
  if (eventfd_write(event, 1)) abort();
}

// --- sockets
static long waits_socket_read(void) { return answer(read(pair[0], big, sizeof big)); }
static long waits_recv(void) { return answer(recv(pair[0], big, sizeof big, 0)); }
static long waits_recvfrom(void) { return answer(recvfrom(pair[0], big, sizeof big, 0, NULL, NULL)); }
static long waits_recvmsg(void) {
  struct iovec place = {big, sizeof big};
  return answer(recvmsg(pair[0], &(struct msghdr){.msg_iov = &place, .msg_iovlen = 1}, 0));
}
static void ends_by_send(void) {
  if (send(pair[1], "x", 1, 0) != 1) abort();
}
static long waits_accept(void) {
  int fd = accept(server, NULL, NULL);
  return fd < 0 ? -errno : close(fd);
}
static long waits_accept4(void) {
  int fd = accept4(server, NULL, NULL, SOCK_CLOEXEC);
  return fd < 0 ? -errno : close(fd);
}
static void ends_by_connect(void) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in name;
  socklen_t size = sizeof name;
  if (getsockname(server, (struct sockaddr*)&name, &size) || connect(fd, (struct sockaddr*)&name, size))
    abort();
  close(fd);
}
/// To a server whose queue of connections is full, until that accepts one.
static long waits_connect(void) {
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  long result = answer(connect(fd, (struct sockaddr*)&address, sizeof address));
  close(client);
  client = fd;
  return result;
}
static void ends_by_accept(void) { close(accept(full_server, NULL, NULL)); }
static long waits_send(void) { return answer(send(full_pair[0], big, 1000, 0)); }
static long waits_sendmsg(void) {
  struct iovec place = {big, 1000};
  return answer(sendmsg(full_pair[0], &(struct msghdr){.msg_iov = &place, .msg_iovlen = 1}, 0));
}
static void ends_by_draining(void) {
  char room[4096];
  while (recv(full_pair[1], room, sizeof room, MSG_DONTWAIT) > 0) continue;
}

// --- more than fits at once: what was moved before an interruption is all that such a call returns
static volatile int moved_on;  // the other thread takes or gives the rest
static void takes_from(int fd) {
  static char room[kBig];
  while (!moved_on)
    if (read(fd, room, sizeof room) <= 0) usleep(20);
}
static long waits_write(void) { return answer(write(full[1], big, 1000)); }
static long waits_writev(void) { return answer(writev(full[1], &(struct iovec){big, 1000}, 1)); }
static long writes_all(void) { return answer(write(full[1], big, sizeof big)); }
static void ends_by_taking(void) { takes_from(full[0]); }
static long sends_all(void) { return answer(send(full_pair[0], big, sizeof big, 0)); }
static void ends_by_receiving(void) { takes_from(full_pair[1]); }
static long receives_all(void) { return answer(recv(pair[0], big, 20, MSG_WAITALL)); }
static void ends_byte_by_byte(void) {
  for (int i = 0; i < 20 && !moved_on; ++i, usleep(20))
    if (send(pair[1], "x", 1, 0) != 1) abort();
}

// --- semaphores and what the C library waits for
static long waits_sem_wait(void) { return answer(sem_wait(&semaphore)); }
static long waits_sem_timedwait(void) {
  struct timespec end = until(CLOCK_REALTIME);
  return answer(sem_timedwait(&semaphore, &end));
}
static long waits_sem_clockwait(void) {
  struct timespec end = until(CLOCK_MONOTONIC);
  return answer(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &end));
}
static void ends_by_post(void) { sem_post(&semaphore); }
static long waits_cond_timedwait(void) {
  struct timespec end = until(CLOCK_REALTIME);
  pthread_mutex_lock(&mutex);
  long result = -pthread_cond_timedwait(&condition, &mutex, &end);
  pthread_mutex_unlock(&mutex);
  return result;
}
static void ends_by_condition(void) {
  pthread_mutex_lock(&mutex);
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
}
static long waits_futex(void) {
  return answer(syscall(SYS_futex, &futex_word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
}
static long waits_futex_in_time(void) {
  struct timespec time = limit();
  return answer(syscall(SYS_futex, &futex_word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0));
}
// Since Linux 5.16, and newer than the headers of some systems.
static long waits_futex_vector(void) {
  struct {
    uint64_t value, address;
    uint32_t flags, reserved;
  } each = {0, (uint64_t)(uintptr_t)&futex_word, 2 /* FUTEX_32 */ | FUTEX_PRIVATE_FLAG, 0};
  return answer(syscall(449 /* futex_waitv */, &each, 1, 0, NULL, 0));
}
static void ends_by_futex(void) {
  __atomic_store_n(&futex_word, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &futex_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

// --- System V and POSIX queues
static long waits_msgrcv(void) { return answer(msgrcv(queue, &message, sizeof message.text, 0, 0)); }
static void ends_by_message(void) { msgsnd(queue, &message, 10, 0); }
static long waits_msgsnd(void) { return answer(msgsnd(full_queue, &message, sizeof message.text, 0)); }
static void ends_by_taking_a_message(void) {
  static char room[2000];
  msgrcv(full_queue, room, sizeof message.text, 0, IPC_NOWAIT);
}
static struct sembuf take = {0, -1, 0}, give = {0, 1, 0};
static long waits_semop(void) { return answer(semop(semaphores, &take, 1)); }
static long waits_semtimedop(void) {
  struct timespec time = limit();
  return answer(semtimedop(semaphores, &take, 1, &time));
}
static void ends_by_giving(void) { semop(semaphores, &give, 1); }

// --- locks of files: held by another open file (flock, OFD) or by a child (fcntl)
static long waits_flock(void) { return answer(flock(locked, LOCK_EX)); }
static void ends_by_unlock(void) { flock(holder, LOCK_UN); }
static struct flock whole_file(short type) { return (struct flock){.l_type = type, .l_whence = SEEK_SET}; }
static long waits_ofd_lock(void) {
  struct flock lock = whole_file(F_WRLCK);
  return answer(fcntl(locked, F_OFD_SETLKW, &lock));
}
static void ends_by_ofd_unlock(void) {
  struct flock lock = whole_file(F_UNLCK);
  fcntl(holder, F_OFD_SETLK, &lock);
}
static long waits_file_lock(void) {
  struct flock lock = whole_file(F_WRLCK);
  return answer(fcntl(lock_file, F_SETLKW, &lock));
}

// --- children, which live until they are told to end
static long waits_waitpid(void) { return answer(waitpid(child, NULL, 0)) == child ? 0 : -errno; }
static long waits_waitid(void) {
  siginfo_t info;
  return answer(waitid(P_PID, (id_t)child, &info, WEXITED));
}
static void ends_by_kill(void) { kill(child, SIGKILL); }

// --- signals that are waited for: blocked, so that no handler runs
static sigset_t the_blocked(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  return set;
}
static long waits_sigwait(void) {
  sigset_t set = the_blocked();
  int number = 0, failed = sigwait(&set, &number);
  return failed ? -failed : number;
}
static long waits_sigwaitinfo(void) {
  sigset_t set = the_blocked();
  return answer(sigwaitinfo(&set, NULL));
}
static long waits_sigtimedwait(void) {
  sigset_t set = the_blocked();
  struct timespec time = limit();
  return answer(sigtimedwait(&set, NULL, &time));
}
static long waits_signal_descriptor(void) {
  static int descriptor = -1;
  sigset_t set = the_blocked();
  if (descriptor < 0) descriptor = signalfd(-1, &set, SFD_CLOEXEC);
  return answer(read(descriptor, big, sizeof(struct signalfd_siginfo)));
}
static void ends_by_blocked_signal(void) { pthread_kill(first_thread, SIGUSR2); }

// --- io_uring, where the kernel has it: one entry a round, which does nothing
static struct {
  int fd;
  char *submissions, *completions;
  struct io_uring_params is;
} ring = {.fd = -1};
static uint32_t* ring_word(char* map, uint32_t offset) { return (uint32_t*)(map + offset); }
static void make_ring(void) {
  ring.fd = (int)syscall(SYS_io_uring_setup, 4, &ring.is);
  if (ring.fd < 0) return;
  ring.submissions =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd, IORING_OFF_SQ_RING);
  ring.completions =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd, IORING_OFF_CQ_RING);
  mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd, IORING_OFF_SQES);
}
static void take_completions(void) {
  if (ring.fd < 0) return;
  uint32_t* tail = ring_word(ring.completions, ring.is.cq_off.tail);
  __atomic_store_n(ring_word(ring.completions, ring.is.cq_off.head), __atomic_load_n(tail, __ATOMIC_ACQUIRE),
                   __ATOMIC_RELEASE);
}
static long waits_ring(void) {
  long result = answer(syscall(SYS_io_uring_enter, ring.fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0));
  take_completions();
  return result;
}
static void ends_by_ring(void) {
  if (ring.fd < 0) return;
  uint32_t* tail = ring_word(ring.submissions, ring.is.sq_off.tail);
  uint32_t mask = *ring_word(ring.submissions, ring.is.sq_off.ring_mask);
  ring_word(ring.submissions, ring.is.sq_off.array)[*tail & mask] = 0;  // the zeroed entry is a no-op
  __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
  syscall(SYS_io_uring_enter, ring.fd, 1, 0, 0, NULL, 0);
}
