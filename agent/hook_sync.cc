// SPDX-License-Identifier: MIT
// Read-write locks, semaphores, barriers, and waiting for the end of a thread. Context: any thread of the
// target; sem_post also in its signal handlers.
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include <cerrno>

#include "agent/hooks.h"
#include "agent/real.h"
#include "agent/signal/clock.h"
#include "agent/wait_trace.h"

namespace varve::agent {
namespace {

using format::ObjectKind;
using RwLock = pthread_rwlock_t;

Real<int(RwLock*)> real_rdlock{"pthread_rwlock_rdlock"};
Real<int(RwLock*)> real_tryrdlock{"pthread_rwlock_tryrdlock"};
Real<int(RwLock*, const timespec*)> real_timedrdlock{"pthread_rwlock_timedrdlock"};
Real<int(RwLock*, clockid_t, const timespec*)> real_clockrdlock{"pthread_rwlock_clockrdlock"};
Real<int(RwLock*)> real_wrlock{"pthread_rwlock_wrlock"};
Real<int(RwLock*)> real_trywrlock{"pthread_rwlock_trywrlock"};
Real<int(RwLock*, const timespec*)> real_timedwrlock{"pthread_rwlock_timedwrlock"};
Real<int(RwLock*, clockid_t, const timespec*)> real_clockwrlock{"pthread_rwlock_clockwrlock"};
Real<int(RwLock*)> real_rwunlock{"pthread_rwlock_unlock"};
Real<int(sem_t*)> real_sem_wait{"sem_wait"};
Real<int(sem_t*)> real_sem_trywait{"sem_trywait"};
Real<int(sem_t*, const timespec*)> real_sem_timedwait{"sem_timedwait"};
Real<int(sem_t*, clockid_t, const timespec*)> real_sem_clockwait{"sem_clockwait"};
Real<int(sem_t*)> real_sem_post{"sem_post"};
Real<int(pthread_barrier_t*)> real_barrier_wait{"pthread_barrier_wait"};
Real<int(pthread_t, void**)> real_join{"pthread_join"};
Real<int(pthread_t, void**, const timespec*)> real_timedjoin{"pthread_timedjoin_np"};
Real<int(pthread_t, void**, clockid_t, const timespec*)> real_clockjoin{"pthread_clockjoin_np"};
Real<int(thrd_t, int*)> real_thrd_join{"thrd_join"};

template <typename Lock>
int rwlocked(RwLock* rwlock, Real<int(RwLock*)>& try_lock, Lock lock) {
  if (!traces_waits()) return lock();
  const int result = try_lock(rwlock);
  if (result != EBUSY) return result;
  Waiting waiting(ObjectKind::kRwLock, object_of(rwlock));
  return lock();
}

/// sem_wait acts on a cancellation even where the semaphore is free; sem_trywait does not.
template <typename Wait>
int sem_waited(sem_t* semaphore, Wait wait) {
  if (!traces_waits()) return wait();
  pthread_testcancel();
  const int saved_errno = errno;
  if (real_sem_trywait(semaphore) == 0) return 0;
  errno = saved_errno;
  Waiting waiting(ObjectKind::kSemaphore, object_of(semaphore));
  return wait();
}

/// With a time limit, which is judged by who waits: to try before would take what is free whatever it is.
template <typename Call>
int in_time(ObjectKind kind, const void* object, Call call) {
  Waiting waiting(kind, object_of(object), Asked::kNo);
  return waiting.returned(call());
}

/// One that still runs has a CPU clock. `thread` may be joined, so it exists.
template <typename Join>
int joined(pthread_t thread, Asked asked, Join join) {
  clockid_t clock;
  if (!traces_waits() || pthread_getcpuclockid(thread, &clock) != 0) return join();
  Waiting waiting(ObjectKind::kThread, uint64_t(tid_of(clock)), asked);
  return waiting.returned(join());
}

}  // namespace

void resolve_sync_hooks() {
  real_rdlock.get(), real_tryrdlock.get(), real_timedrdlock.get(), real_clockrdlock.get();
  real_wrlock.get(), real_trywrlock.get(), real_timedwrlock.get(), real_clockwrlock.get();
  real_rwunlock.get(), real_barrier_wait.get();
  real_sem_wait.get(), real_sem_trywait.get(), real_sem_timedwait.get(), real_sem_clockwait.get();
  real_sem_post.get();
  real_join.get(), real_timedjoin.get(), real_clockjoin.get(), real_thrd_join.get();
}

VARVE_HOOK int pthread_rwlock_rdlock(RwLock* lock) noexcept {
  return rwlocked(lock, real_tryrdlock, [=] { return real_rdlock(lock); });
}
VARVE_HOOK int pthread_rwlock_timedrdlock(RwLock* lock, const timespec* until) noexcept {
  return in_time(ObjectKind::kRwLock, lock, [=] { return real_timedrdlock(lock, until); });
}
VARVE_HOOK int pthread_rwlock_clockrdlock(RwLock* lock, clockid_t clock, const timespec* until) noexcept {
  return in_time(ObjectKind::kRwLock, lock, [=] { return real_clockrdlock(lock, clock, until); });
}
VARVE_HOOK int pthread_rwlock_wrlock(RwLock* lock) noexcept {
  return rwlocked(lock, real_trywrlock, [=] { return real_wrlock(lock); });
}
VARVE_HOOK int pthread_rwlock_timedwrlock(RwLock* lock, const timespec* until) noexcept {
  return in_time(ObjectKind::kRwLock, lock, [=] { return real_timedwrlock(lock, until); });
}
VARVE_HOOK int pthread_rwlock_clockwrlock(RwLock* lock, clockid_t clock, const timespec* until) noexcept {
  return in_time(ObjectKind::kRwLock, lock, [=] { return real_clockwrlock(lock, clock, until); });
}
VARVE_HOOK int pthread_rwlock_unlock(RwLock* lock) noexcept {
  Releasing releasing(ObjectKind::kRwLock, lock);
  return real_rwunlock(lock);
}

VARVE_HOOK int sem_wait(sem_t* semaphore) {
  return sem_waited(semaphore, [=] { return real_sem_wait(semaphore); });
}
VARVE_HOOK int sem_timedwait(sem_t* semaphore, const timespec* until) {
  return in_time(ObjectKind::kSemaphore, semaphore, [=] { return real_sem_timedwait(semaphore, until); });
}
VARVE_HOOK int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  return in_time(ObjectKind::kSemaphore, semaphore,
                 [=] { return real_sem_clockwait(semaphore, clock, until); });
}
VARVE_HOOK int sem_post(sem_t* semaphore) noexcept {
  Releasing releasing(ObjectKind::kSemaphore, semaphore);
  return real_sem_post(semaphore);
}

/// Whoever comes last lets the others go. That it was the last it knows afterwards: glibc has that thread
/// return this value.
VARVE_HOOK int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  Waiting waiting(ObjectKind::kBarrier, object_of(barrier));
  LastToCome last{object_of(barrier), waiting.begin_ns(), waiting.others_since_ns(), waiting.others()};
  const int result = real_barrier_wait(barrier);
  if (result != PTHREAD_BARRIER_SERIAL_THREAD) return result;
  waiting.was_none();
  waiting.end();
  if (last.came_ns != 0) note_last_to_come(last);
  return result;
}

VARVE_HOOK int pthread_join(pthread_t thread, void** result) {
  return joined(thread, Asked::kYes, [=] { return real_join(thread, result); });
}
VARVE_HOOK int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* until) {
  return joined(thread, Asked::kNo, [=] { return real_timedjoin(thread, result, until); });
}
VARVE_HOOK int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock, const timespec* until) {
  return joined(thread, Asked::kNo, [=] { return real_clockjoin(thread, result, clock, until); });
}
VARVE_HOOK int thrd_join(thrd_t thread, int* result) {
  return joined(thread, Asked::kYes, [=] { return real_thrd_join(thread, result); });
}

}  // namespace varve::agent
