// SPDX-License-Identifier: MIT
// flags: -D_GNU_SOURCE
// lock_results: every kind of lock of the C library through what can happen to one, and prints each answer: a
// run with a guest in the process prints the same. What could wait without end is asked with a time limit; an
// alarm ends a run that hangs. Context: test 30.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include "lock_answers.h"
#include "mutex_results.h"
#include "waits_now.h"
#include "work.h"

typedef pthread_rwlock_t RwLock;

// --- read-write locks ----------------------------------------------------------------------------------------
static void* readers_and_writers(void* lock) {
  SAY(pthread_rwlock_tryrdlock(lock));
  SAY(pthread_rwlock_trywrlock(lock));
  SAY(pthread_rwlock_timedrdlock(lock, soon(CLOCK_REALTIME)));
  SAY(pthread_rwlock_timedrdlock(lock, &kWrong));
  SAY(pthread_rwlock_clockrdlock(lock, CLOCK_MONOTONIC, soon(CLOCK_MONOTONIC)));
  SAY(pthread_rwlock_timedwrlock(lock, soon(CLOCK_REALTIME)));
  SAY(pthread_rwlock_timedwrlock(lock, &kWrong));
  SAY(pthread_rwlock_clockwrlock(lock, CLOCK_MONOTONIC, soon(CLOCK_MONOTONIC)));
  SAY(pthread_rwlock_clockwrlock(lock, CLOCK_PROCESS_CPUTIME_ID, &kPast));
  return NULL;
}
static void* writes(void* lock) {
  will_wait();
  int result = pthread_rwlock_wrlock(lock);
  return pthread_rwlock_unlock(lock), (void*)(size_t)result;
}
/// Whether a reader may pass a writer who waits.
static void* tries_to_read(void* lock) {
  int result = 0;
  for (int i = 0; i < 500 && result == 0; ++i) {
    result = pthread_rwlock_tryrdlock(lock);
    if (result == 0) pthread_rwlock_unlock(lock), usleep(100);
  }
  return say("read past a writer", result), NULL;
}
static void rwlocks(void) {
  static const struct {
    const char* name;
    int kind;
  } preferences[] = {{"rwlock", PTHREAD_RWLOCK_PREFER_READER_NP},
                     {"rwlock writers", PTHREAD_RWLOCK_PREFER_WRITER_NP},
                     {"rwlock nonrecursive", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP}};
  for (int i = 0; i < 3; ++i) {
    RwLock lock;
    pthread_rwlockattr_t attributes;
    pthread_t thread;
    void* result = NULL;
    subject = preferences[i].name;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, preferences[i].kind);
    SAY(pthread_rwlock_init(&lock, &attributes));
    SAY(pthread_rwlock_rdlock(&lock));
    SAY(pthread_rwlock_rdlock(&lock));
    SAY(pthread_rwlock_trywrlock(&lock));
    pthread_create(&thread, NULL, writes, &lock);
    until_it_waits();
    in_thread(tries_to_read, &lock);
    SAY(pthread_rwlock_unlock(&lock));
    SAY(pthread_rwlock_unlock(&lock));
    pthread_join(thread, &result);
    say("write after reading", (int)(size_t)result);
    SAY(pthread_rwlock_wrlock(&lock));
    SAY(pthread_rwlock_wrlock(&lock));  // EDEADLK
    SAY(pthread_rwlock_rdlock(&lock));
    in_thread(readers_and_writers, &lock);
    SAY(pthread_rwlock_unlock(&lock));
    in_thread(readers_and_writers, &lock);  // of one that is free, and left locked
    SAY(pthread_rwlock_destroy(&lock));
  }
}

// --- the rest ------------------------------------------------------------------------------------------------
static void* at_barrier(void* barrier) {
  return (void*)(size_t)(pthread_barrier_wait(barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
}
static void spins_and_barriers(void) {
  subject = "spin";
  pthread_spinlock_t spin;
  SAY(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
  SAY(pthread_spin_lock(&spin));
  SAY(pthread_spin_trylock(&spin));
  SAY(pthread_spin_unlock(&spin));
  SAY(pthread_spin_destroy(&spin));
  subject = "barrier";
  pthread_barrier_t barrier;
  pthread_t threads[3];
  SAY(pthread_barrier_init(&barrier, NULL, 0));
  SAY(pthread_barrier_init(&barrier, NULL, 3));
  for (int round = 0; round < 20; ++round) {
    size_t last = 0;
    for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, at_barrier, &barrier);
    for (int i = 0; i < 3; ++i) {
      void* result = NULL;
      pthread_join(threads[i], &result);
      last += (size_t)result;
    }
    if (last != 1) say("serial threads", (int)last);
  }
  SAY(pthread_barrier_destroy(&barrier));
  SAY(pthread_barrier_init(&barrier, NULL, 1));
  SAY(pthread_barrier_wait(&barrier));
}

static void semaphores(void) {
  subject = "semaphore";
  sem_t semaphore;
  int value = 0;
  SAY_ERRNO(sem_init(&semaphore, 0, 0x80000000u));
  SAY_ERRNO(sem_init(&semaphore, 0, 1));
  errno = 77;
  SAY_ERRNO(sem_wait(&semaphore));
  say("errno after a wait", errno);
  SAY_ERRNO(sem_trywait(&semaphore));
  SAY_ERRNO(sem_timedwait(&semaphore, soon(CLOCK_REALTIME)));
  SAY_ERRNO(sem_timedwait(&semaphore, &kWrong));
  SAY_ERRNO(sem_clockwait(&semaphore, CLOCK_MONOTONIC, soon(CLOCK_MONOTONIC)));
  SAY_ERRNO(sem_clockwait(&semaphore, CLOCK_PROCESS_CPUTIME_ID, &kPast));
  SAY_ERRNO(sem_post(&semaphore));
  SAY_ERRNO(sem_timedwait(&semaphore, &kWrong));  // of a free one
  SAY_ERRNO(sem_init(&semaphore, 0, 0x7fffffff));
  SAY_ERRNO(sem_post(&semaphore));
  SAY_ERRNO(sem_getvalue(&semaphore, &value));
  say("value", value);
}

struct Meeting {
  Mutex mutex;
  pthread_cond_t condition;
  int waiting, open, result;
};
static void* waits_for_condition(void* argument) {
  struct Meeting* meeting = argument;
  pthread_mutex_lock(&meeting->mutex);
  ++meeting->waiting;
  while (!meeting->open) {
    int result = pthread_cond_wait(&meeting->condition, &meeting->mutex);
    if (result) meeting->result = result, pthread_mutex_consistent(&meeting->mutex);
  }
  pthread_mutex_unlock(&meeting->mutex);
  return NULL;
}
/// How many threads wait: each that has counted itself and let go of the mutex does.
static int waiting_at(struct Meeting* meeting) {
  pthread_mutex_lock(&meeting->mutex);
  const int waiting = meeting->waiting;
  pthread_mutex_unlock(&meeting->mutex);
  return waiting;
}
static void* opens_and_dies(void* argument) {
  struct Meeting* meeting = argument;
  pthread_mutex_lock(&meeting->mutex);
  meeting->open = 1;
  return say("broadcast, and die", pthread_cond_broadcast(&meeting->condition)), NULL;
}
static void conditions(void) {
  subject = "condition";
  struct Meeting meeting = {.condition = PTHREAD_COND_INITIALIZER};
  make(&meeting.mutex, &kinds[6], 0);
  SAY(pthread_cond_signal(&meeting.condition));
  SAY(pthread_cond_wait(&meeting.condition, &meeting.mutex));  // EPERM: not its owner
  SAY(pthread_mutex_lock(&meeting.mutex));
  SAY(pthread_cond_timedwait(&meeting.condition, &meeting.mutex, soon(CLOCK_REALTIME)));
  SAY(pthread_cond_timedwait(&meeting.condition, &meeting.mutex, &kPast));
  SAY(pthread_cond_timedwait(&meeting.condition, &meeting.mutex, &kWrong));
  SAY(pthread_cond_clockwait(&meeting.condition, &meeting.mutex, CLOCK_MONOTONIC, soon(CLOCK_MONOTONIC)));
  SAY(pthread_cond_clockwait(&meeting.condition, &meeting.mutex, CLOCK_PROCESS_CPUTIME_ID, &kPast));
  SAY(pthread_mutex_unlock(&meeting.mutex));
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, waits_for_condition, &meeting);
  while (waiting_at(&meeting) < 3) usleep(100);
  in_thread(opens_and_dies, &meeting);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  say("answer of a wait", meeting.result);  // of the first that goes on: the owner died
  SAY(pthread_cond_destroy(&meeting.condition));
}

static void c11(void) {
  static const int types[] = {mtx_plain, mtx_timed, mtx_plain | mtx_recursive, mtx_timed | mtx_recursive};
  static const char* const names[] = {"mtx plain", "mtx timed", "mtx recursive", "mtx timed recursive"};
  for (int i = 0; i < 4; ++i) {
    mtx_t mutex;
    cnd_t condition;
    subject = names[i];
    SAY(mtx_init(&mutex, types[i]));
    SAY(cnd_init(&condition));
    SAY(mtx_lock(&mutex));
    SAY(mtx_trylock(&mutex));
    SAY(mtx_timedlock(&mutex, &kPast));
    SAY(mtx_timedlock(&mutex, &kWrong));
    if (types[i] & mtx_recursive) SAY(mtx_lock(&mutex)), SAY(mtx_unlock(&mutex));
    SAY(cnd_timedwait(&condition, &mutex, soon(CLOCK_REALTIME)));
    SAY(cnd_timedwait(&condition, &mutex, &kWrong));
    SAY(cnd_signal(&condition));
    SAY(cnd_broadcast(&condition));
    SAY(mtx_unlock(&mutex));
    mtx_destroy(&mutex);
  }
}

static void* sleeps(void* semaphore) { return sem_wait(semaphore), (void*)5; }
static void joins(void) {
  subject = "join";
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  pthread_t thread;
  void* result = NULL;
  SAY(pthread_join(pthread_self(), NULL));
  SAY(pthread_create(&thread, NULL, sleeps, &semaphore));
  SAY(pthread_tryjoin_np(thread, NULL));
  SAY(pthread_timedjoin_np(thread, NULL, soon(CLOCK_REALTIME)));
  SAY(pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, soon(CLOCK_MONOTONIC)));
  SAY(sem_post(&semaphore));
  SAY(pthread_timedjoin_np(thread, &result, NULL));
  say("result", (int)(size_t)result);
  SAY(pthread_create(&thread, NULL, sleeps, &semaphore));
  SAY(pthread_cancel(thread));
  SAY(pthread_join(thread, &result));
  say("cancelled", result == PTHREAD_CANCELED);
  SAY(pthread_create(&thread, NULL, sleeps, &semaphore));
  SAY(pthread_detach(thread));
  SAY(pthread_join(thread, NULL));
  SAY(pthread_timedjoin_np(thread, NULL, &kPast));
  SAY(sem_post(&semaphore));
}

int main(void) {
  alarm(80);  // on a busy machine the hundreds of hand-overs take seconds
  // Work in between, so that ticks come as well.
  void (*const parts[])(void) = {mutexes, rwlocks, spins_and_barriers, semaphores, conditions, c11, joins};
  uint64_t x = 7;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    parts[i]();
    SPIN(x, 20 * STEPS_PER_MS);
  }
  return x == 0;
}
