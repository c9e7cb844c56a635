// SPDX-License-Identifier: MIT
// Every kind of mutex through what can happen to one: by its owner and by others, handed on, with a dead
// owner, between processes. Context: lock_results.c alone.
#pragma once

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lock_answers.h"

typedef pthread_mutex_t Mutex;

static const struct Kind {
  const char* name;
  int type, robust, protocol;
} kinds[] = {
    {"normal", PTHREAD_MUTEX_NORMAL, 0, 0},
    {"recursive", PTHREAD_MUTEX_RECURSIVE, 0, 0},
    {"errorcheck", PTHREAD_MUTEX_ERRORCHECK, 0, 0},
    {"adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, 0, 0},
    {"robust", PTHREAD_MUTEX_NORMAL, 1, 0},
    {"robust recursive", PTHREAD_MUTEX_RECURSIVE, 1, 0},
    {"robust errorcheck", PTHREAD_MUTEX_ERRORCHECK, 1, 0},
    {"inherit", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_INHERIT},
    {"inherit recursive", PTHREAD_MUTEX_RECURSIVE, 0, PTHREAD_PRIO_INHERIT},
    {"inherit errorcheck", PTHREAD_MUTEX_ERRORCHECK, 0, PTHREAD_PRIO_INHERIT},
    {"inherit robust", PTHREAD_MUTEX_NORMAL, 1, PTHREAD_PRIO_INHERIT},
    {"protect", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_PROTECT},
    {"protect errorcheck", PTHREAD_MUTEX_ERRORCHECK, 0, PTHREAD_PRIO_PROTECT},
};

static int make(Mutex* mutex, const struct Kind* kind, int shared) {
  pthread_mutexattr_t attributes;
  memset(mutex, 0, sizeof *mutex);
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, kind->type);
  pthread_mutexattr_setrobust(&attributes, kind->robust ? PTHREAD_MUTEX_ROBUST : PTHREAD_MUTEX_STALLED);
  pthread_mutexattr_setprotocol(&attributes, kind->protocol);
  if (kind->protocol == PTHREAD_PRIO_PROTECT) pthread_mutexattr_setprioceiling(&attributes, 10);
  pthread_mutexattr_setpshared(&attributes, shared);
  return pthread_mutex_init(mutex, &attributes);
}
static Mutex* shared_memory(void) {
  void* memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? exit(3), NULL : memory;
}

static void* dies_with(void* mutex) { return say("lock, and die", pthread_mutex_lock(mutex)), NULL; }
static void* of_another(void* mutex) {
  SAY(pthread_mutex_trylock(mutex));
  SAY(pthread_mutex_timedlock(mutex, soon(CLOCK_REALTIME)));
  SAY(pthread_mutex_timedlock(mutex, &kPast));
  SAY(pthread_mutex_timedlock(mutex, &kWrong));
  SAY(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, soon(CLOCK_MONOTONIC)));
  SAY(pthread_mutex_clocklock(mutex, CLOCK_PROCESS_CPUTIME_ID, &kPast));
  return NULL;
}
static void* unlocks(void* mutex) { return say("unlock by another", pthread_mutex_unlock(mutex)), NULL; }

static int checks_its_owner(const struct Kind* kind) {
  return kind->type == PTHREAD_MUTEX_RECURSIVE || kind->type == PTHREAD_MUTEX_ERRORCHECK;
}
static void by_its_owner(Mutex* mutex, const struct Kind* kind) {
  SAY(pthread_mutex_lock(mutex));
  SAY(pthread_mutex_trylock(mutex));
  SAY(pthread_mutex_timedlock(mutex, &kPast));
  SAY(pthread_mutex_timedlock(mutex, &kWrong));
  SAY(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &kPast));
  if (checks_its_owner(kind)) say("lock again", pthread_mutex_lock(mutex));
  in_thread(of_another, mutex);
  SAY(pthread_mutex_destroy(mutex));  // while it is held
  if (checks_its_owner(kind)) in_thread(unlocks, mutex);
  for (int i = 0; i < 8; ++i)
    if (i == 0 || checks_its_owner(kind)) SAY(pthread_mutex_unlock(mutex));
  SAY(pthread_mutex_consistent(mutex));
  SAY(pthread_mutex_timedlock(mutex, &kWrong));  // of a free one
  SAY(pthread_mutex_unlock(mutex));
  SAY(pthread_mutex_destroy(mutex));
  if (kind->type == PTHREAD_MUTEX_ERRORCHECK) say("lock a destroyed one", pthread_mutex_lock(mutex));
}

struct Waiter {
  Mutex* mutex;
  sem_t ready;
  int before, with;
};
static void* waits(void* argument) {
  struct Waiter* waiter = argument;
  sem_post(&waiter->ready);
  waiter->with = pthread_mutex_lock(waiter->mutex);
  if (waiter->with == EOWNERDEAD) pthread_mutex_consistent(waiter->mutex);
  waiter->before = pthread_mutex_unlock(waiter->mutex);
  return NULL;
}
/// Others lock it and wait for it in turn, so that every lock is one that is held.
static void handed_on(Mutex* mutex) {
  pthread_t threads[4];
  struct Waiter waiter = {.mutex = mutex};
  sem_init(&waiter.ready, 0, 0);
  SAY(pthread_mutex_lock(mutex));
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, waits, &waiter);
  for (int i = 0; i < 4; ++i) sem_wait(&waiter.ready);
  usleep(3000);
  SAY(pthread_mutex_unlock(mutex));
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  say("lock by a waiter", waiter.with);
  say("unlock by a waiter", waiter.before);
}

static void* dies_while_waited_for(void* argument) {
  struct Waiter* waiter = argument;
  pthread_mutex_lock(waiter->mutex);
  sem_post(&waiter->ready);
  usleep(5000);
  return NULL;
}
static void owner_dies(Mutex* mutex, const struct Kind* kind) {
  in_thread(dies_with, mutex);
  SAY(pthread_mutex_trylock(mutex));
  if (!kind->robust) {
    SAY(pthread_mutex_timedlock(mutex, &kPast));
    SAY(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, soon(CLOCK_MONOTONIC)));
    return;
  }
  SAY(pthread_mutex_consistent(mutex));
  SAY(pthread_mutex_unlock(mutex));
  in_thread(dies_with, mutex);
  SAY(pthread_mutex_timedlock(mutex, soon(CLOCK_REALTIME)));
  SAY(pthread_mutex_consistent(mutex));
  SAY(pthread_mutex_unlock(mutex));
  struct Waiter waiter = {.mutex = mutex};
  pthread_t thread;
  sem_init(&waiter.ready, 0, 0);
  pthread_create(&thread, NULL, dies_while_waited_for, &waiter);
  sem_wait(&waiter.ready);
  say("lock while its owner dies", pthread_mutex_lock(mutex));
  pthread_join(thread, NULL);
  SAY(pthread_mutex_unlock(mutex));  // not made consistent: nobody gets it any more
  SAY(pthread_mutex_lock(mutex));
  SAY(pthread_mutex_trylock(mutex));
  SAY(pthread_mutex_timedlock(mutex, &kPast));
  SAY(pthread_mutex_destroy(mutex));
}

/// Between processes; one dies with it.
static void between_processes(Mutex* mutex, const struct Kind* kind) {
  // Beside the mutex: the child has locked often enough, and nobody else locks any more.
  volatile int* const stage = (volatile int*)((char*)mutex + 2048);
  fflush(stdout);
  *stage = 0;
  const pid_t parent = getpid();
  pid_t pid = fork();
  if (!pid) {
    for (int i = 0; i < 200; ++i)
      if (pthread_mutex_lock(mutex) || pthread_mutex_unlock(mutex)) _exit(9);
    *stage = 1;
    while (*stage != 2 && getppid() == parent) usleep(100);
    _exit(pthread_mutex_lock(mutex));
  }
  int status = 0, failed = 0;
  // Who only ever locks keeps the child from it, on some processors for seconds: a woken waiter comes too
  // late.
  for (int i = 1; *stage != 1 && waitpid(pid, &status, WNOHANG) == 0; ++i) {
    failed += pthread_mutex_trylock(mutex) == 0 && pthread_mutex_unlock(mutex) != 0;
    if (i % 50 == 0) usleep(50);
  }
  *stage = 2;
  if (status == 0) waitpid(pid, &status, 0);
  say("locks in the child", WEXITSTATUS(status));
  say("failed unlocks", failed);
  SAY(pthread_mutex_timedlock(mutex, soon(CLOCK_REALTIME)));
  if (kind->robust) SAY(pthread_mutex_consistent(mutex));
  if (kind->robust) SAY(pthread_mutex_unlock(mutex));
}

static void mutexes(void) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    const struct Kind* kind = &kinds[i];
    for (int shared = 0; shared <= 1; ++shared) {
      char name[64];
      snprintf(name, sizeof name, "%s%s", kind->name, shared ? " shared" : "");
      subject = name;
      Mutex* mutex = shared_memory();
      SAY(make(mutex, kind, shared));
      by_its_owner(mutex, kind);
      SAY(make(mutex, kind, shared));
      handed_on(mutex);
      owner_dies(mutex, kind);
      SAY(make(mutex, kind, shared));
      if (shared) between_processes(mutex, kind);
    }
  }
  subject = "ceiling";
  Mutex mutex;
  int before = 0, ceiling = 0;
  make(&mutex, &kinds[11], 0);
  SAY(pthread_mutex_getprioceiling(&mutex, &ceiling));
  SAY(pthread_mutex_setprioceiling(&mutex, 20, &before));
  say("ceilings", before * 100 + ceiling);
  SAY(pthread_mutex_setprioceiling(&mutex, 1000, &before));
}
