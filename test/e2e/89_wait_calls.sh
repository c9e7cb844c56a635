#!/bin/bash
# SPDX-License-Identifier: MIT
# Hooks of waits change nothing, the rarer calls: odd arguments, interruption by a signal, cancellation, what is done once and
# fails or is nested, and system calls of the program's own with all their arguments.
. "$(dirname "$0")/agent.inc"

build calls -lpthread -Wl,-z,now <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static void say(const char* what, long result) { printf("%s %ld %d\n", what, result, result < 0 ? errno : 0); }
static void* volatile nowhere = (void*)8;
static struct timespec bad = {0, -1}, soon = {0, 3000000};
static int word, queue, set, pipe_ends[2], file, other;
static struct { long type; char text[8]; } message = {1, "text"};

static void odd(void) {
  say("msgrcv of none", msgrcv(-1, &message, 8, 0, 0));
  say("msgrcv to nowhere", msgrcv(queue, nowhere, 8, 0, IPC_NOWAIT));
  say("msgsnd from nowhere", msgsnd(queue, nowhere, 8, 0));
  say("msgsnd", msgsnd(queue, &message, 8, 0));
  say("msgrcv", msgrcv(queue, &message, 8, 0, 0));
  say("semop of nowhere", semop(set, nowhere, 1));
  say("semop of none", semop(set, nowhere, 0));
  say("semtimedop", semtimedop(set, &(struct sembuf){0, -1, 0}, 1, &bad));
  say("semtimedop in time", semtimedop(set, &(struct sembuf){0, -1, 0}, 1, &soon));
  say("flock", flock(-1, LOCK_EX)), say("flock of what", flock(file, 77)), say("flock works", flock(file, LOCK_EX));
  say("flock again", flock(other, LOCK_EX | LOCK_NB)), say("unlocked", flock(file, LOCK_UN));
  say("fcntl", fcntl(file, F_GETFL)), say("setfl", fcntl(file, F_SETFL, O_APPEND)), say("fcntl", fcntl(file, F_GETFL));
  say("dup", fcntl(-1, F_DUPFD, 100)), say("dup", close(fcntl(file, F_DUPFD, 100)));
  say("setlkw", fcntl(file, F_SETLKW, nowhere)), say("setlkw of none", fcntl(-1, F_SETLKW, nowhere));
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  say("ofd", fcntl(file, F_OFD_SETLKW, &whole)), say("ofd busy", fcntl(other, F_OFD_SETLK, &whole));
  whole.l_type = F_UNLCK, whole.l_pid = 0;
  say("ofd free", fcntl(file, F_OFD_SETLKW, &whole)), say("lockf", lockf(file, F_LOCK, 10));
  say("lockf", lockf(-1, F_LOCK, 10)), say("lockf", lockf(file, F_ULOCK, 0));
  sigset_t usr1;
  sigemptyset(&usr1), sigaddset(&usr1, SIGUSR1);
  sigprocmask(SIG_BLOCK, &usr1, 0);
  say("sigtimedwait", sigtimedwait(&usr1, 0, &soon)), say("sigtimedwait", sigtimedwait(&usr1, 0, &bad));
  raise(SIGUSR1);
  int number = 0;
  say("sigwait", sigwait(&usr1, &number)), say("number", number);
  siginfo_t info = {0};
  say("waitid", waitid(P_PID, 1, &info, WEXITED)), say("waitid", waitid(P_ALL, 0, &info, 0));
  say("pread", pread(-1, &number, 4, 0)), say("pread of a pipe", pread(pipe_ends[0], &number, 4, 0));
  say("pwrite", pwrite(file, "words", 5, 3)), say("pread", pread(file, &number, 4, 2)), say("number", number);
  struct iovec parts[2] = {{&number, 2}, {nowhere, 1}};
  say("preadv", preadv(file, parts, 1, 4)), say("preadv2", preadv2(file, parts, 1, 4, 0)), say("number", number);
  say("pwritev", pwritev(file, parts, 2, 4)), say("splice", splice(-1, 0, pipe_ends[1], 0, 4, 0));
  off_t at = 3;
  say("sendfile", sendfile(pipe_ends[1], file, &at, 5)), say("at", at), say("tee", tee(pipe_ends[0], pipe_ends[0], 4, 0));
  say("epoll_pwait2", epoll_pwait2(-1, nowhere, 1, &bad, 0));
}

static void futexes(void) {
  say("wait", syscall(SYS_futex, &word, FUTEX_WAIT, 1, 0));
  say("wait in time", syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &soon));
  say("bad time", syscall(SYS_futex, &word, FUTEX_WAIT, 0, &bad));
  say("bitset", syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, 0, 0, 0));
  say("nowhere", syscall(SYS_futex, nowhere, FUTEX_WAIT, 0, 0));
  say("odd place", syscall(SYS_futex, (char*)&word + 1, FUTEX_WAIT, 0, 0));
  say("wake", syscall(SYS_futex, &word, FUTEX_WAKE, 9));
  say("operation", syscall(SYS_futex, &word, 120, 9));
  say("requeue", syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE, 1, 1l, &file, 3));
  say("number", syscall(100000)), say("number", syscall(-1));
  say("pid", syscall(SYS_getpid) == getpid());
  errno = 77;
  char* page = (char*)syscall(SYS_mmap, 0, 4096l, PROT_READ, MAP_PRIVATE, file, 0l);
  say("errno", errno), say("six arguments", page == MAP_FAILED ? -1 : page[3] == 'w');
  say("offset", syscall(SYS_mmap, 0, 4096l, PROT_READ, MAP_PRIVATE, file, 5l));
  siginfo_t info = {0};
  const long child = syscall(SYS_clone, (long)SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(7);
  say("waitid", waitid(P_PID, (id_t)child, &info, WEXITED)), say("status", info.si_status);
}

static void nothing(int unused) { (void)unused; }
static long never_ends(int which) {
  siginfo_t info;
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  char byte;
  if (which == 0) return msgrcv(queue, &message, 8, 0, 0);
  if (which == 1) return semop(set, &(struct sembuf){0, -1, 0}, 1);
  if (which == 2) return flock(other, LOCK_EX);
  if (which == 3) return fcntl(other, F_OFD_SETLKW, &whole);
  if (which == 4) return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, 0);
  if (which == 5) return waitid(P_ALL, 0, &info, WEXITED);
  if (which == 6) return pause();
  if (which == 7) return sigsuspend(&(sigset_t){0});
  if (which == 8) return read(pipe_ends[0], &byte, 1);
  return epoll_pwait2(epoll_create1(0), (struct epoll_event[1]){0}, 1, 0, 0);
}
static void hold(void) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  flock(file, LOCK_EX), fcntl(file, F_OFD_SETLK, &whole);
}

static void interrupted(void) {
  struct sigaction action = {.sa_handler = nothing};
  const struct itimerval timer = {{0, 3000}, {0, 3000}}, none = {0};  // again: the first may come before the wait
  sigaction(SIGALRM, &action, 0);
  hold();
  const pid_t child = fork();
  if (child == 0) for (;;) pause();
  for (int which = 0; which < 10; ++which) {
    setitimer(ITIMER_REAL, &timer, 0);
    const long result = never_ends(which);
    setitimer(ITIMER_REAL, &none, 0);
    printf("%d ", which), say("interrupted", result);
  }
  kill(child, SIGKILL);
}

static void put(void* what) { puts(what); }
static void* wait_for_ever(void* which) {
  pthread_cleanup_push(put, "cleaned up");
  never_ends(*(int*)which);
  pthread_cleanup_pop(0);
  return 0;
}
static void cancelled(void) {
  hold();
  const pid_t child = fork();
  if (child == 0) for (;;) pause();
  for (int which = 0; which < 10; ++which) {
    if (which == 1 || which == 2 || which == 4) continue;  // no cancellation points
    pthread_t thread;
    void* result;
    pthread_create(&thread, 0, wait_for_ever, &which);
    usleep(3000);
    const int asked = pthread_cancel(thread);
    pthread_join(thread, &result);
    printf("%d ", which), say("cancel", asked), say("cancelled", result == PTHREAD_CANCELED);
  }
  kill(child, SIGKILL);
}

static pthread_once_t once = PTHREAD_ONCE_INIT, inner = PTHREAD_ONCE_INIT, both = PTHREAD_ONCE_INIT;
static once_flag flag = ONCE_FLAG_INIT;
static volatile int begun;
static void inner_routine(void) { puts("inner"); }
static void outer_routine(void) { say("inner", pthread_once(&inner, inner_routine)), puts("outer"); }
static void flagged(void) { puts("flagged"); }
static void stay(void) {
  if (begun++) { puts("the second does it"); return; }
  for (;;) usleep(1000);
}
static void* do_both(void* unused) { say("both", pthread_once(&both, stay)); return unused; }
static void once_only(void) {
  say("once", pthread_once(&once, outer_routine)), say("once", pthread_once(&once, outer_routine));
  call_once(&flag, flagged), call_once(&flag, flagged);
  pthread_t first, second;
  pthread_create(&first, 0, do_both, 0);
  while (!begun) usleep(1000);
  pthread_create(&second, 0, do_both, 0), usleep(3000);
  pthread_cancel(first), pthread_join(first, 0), pthread_join(second, 0);
}

int main(int count, char** words) {
  setvbuf(stdout, 0, _IOLBF, 0);
  if (count < 2 || pipe(pipe_ends)) return 2;
  queue = msgget(IPC_PRIVATE, 0600), set = semget(IPC_PRIVATE, 1, 0600);
  file = open("locked", O_RDWR | O_CREAT | O_TRUNC, 0600), other = open("locked", O_RDWR);
  if (write(file, "a few words", 11) != 11) return 2;
  if (!strcmp(words[1], "odd")) odd();
  if (!strcmp(words[1], "futex")) futexes();
  if (!strcmp(words[1], "interrupted")) interrupted();
  if (!strcmp(words[1], "cancelled")) cancelled();
  if (!strcmp(words[1], "once")) once_only();
  msgctl(queue, IPC_RMID, 0), semctl(set, 0, IPC_RMID);
  return 0;
}
END
cat >throws.cc <<'END'
// Initialization that throws is done by the next thread, also where that waits for it.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

static std::once_flag flag;
static std::atomic<int> tries{0};
static void initialize() {
  usleep(20000);
  if (++tries < 3) throw tries.load();
}
static int object() {
  usleep(20000);
  if (++tries < 6) throw tries.load();
  return tries;
}
static void use() {
  try {
    std::call_once(flag, initialize);
  } catch (int) {
    std::puts("thrown");
  }
}
static void use_static() {
  try {
    static const int value = object();
    std::printf("%d\n", value);
  } catch (int) {
    std::puts("thrown");
  }
}
int main() {
  for (void (*const each)() : {use, use_static}) {
    std::thread threads[4];
    for (std::thread& thread : threads) thread = std::thread(each);
    for (std::thread& thread : threads) thread.join();
    std::printf("%d\n", tries.load());
  }
}
END
g++ -O1 -g -o throws throws.cc -lpthread || fail "cannot build throws.cc"

compare() {
  local name=$1
  shift
  "$@" >bare 2>&1
  bare_code=$?
  record -q -o "$name" -- "$@"
  expect_eq "exit code of $name" $code $bare_code
  cmp -s out bare || fail "what $name prints is not what it prints bare: $(diff out bare)"
}
for what in odd futex interrupted cancelled once; do compare $what ./calls $what; done
expect_match bare '^the second does it$'
compare thrown ./throws
# The guard of a static object is a futex, by syscall().
expect_eq "waits for initialization" "$(rows waits thrown "sorted(r['type'] for r in rows if r['type'] in ('Once', 'Futex'))")" \
  "['Futex', 'Once']"
