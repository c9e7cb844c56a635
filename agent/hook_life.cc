// SPDX-License-Identifier: MIT
// Where objects that threads wait for are initialized and destroyed, so that one at an address is not taken
// for the next, and is known by its place in the program. Not objects that are initialized without a call, as
// std::mutex is. Context: any thread of the target.
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include "agent/hooks.h"
#include "agent/real.h"
#include "agent/wait_trace.h"

namespace varve::agent {
namespace {

using format::ObjectKind;

Real<int(pthread_mutex_t*, const pthread_mutexattr_t*)> real_mutex_init{"pthread_mutex_init"};
Real<int(pthread_mutex_t*)> real_mutex_destroy{"pthread_mutex_destroy"};
Real<int(mtx_t*, int)> real_mtx_init{"mtx_init"};
Real<void(mtx_t*)> real_mtx_destroy{"mtx_destroy"};
Real<int(pthread_rwlock_t*, const pthread_rwlockattr_t*)> real_rwlock_init{"pthread_rwlock_init"};
Real<int(pthread_rwlock_t*)> real_rwlock_destroy{"pthread_rwlock_destroy"};
Real<int(pthread_cond_t*, const pthread_condattr_t*)> real_cond_init{"pthread_cond_init"};
Real<int(pthread_cond_t*)> real_cond_destroy{"pthread_cond_destroy"};
Real<int(cnd_t*)> real_cnd_init{"cnd_init"};
Real<void(cnd_t*)> real_cnd_destroy{"cnd_destroy"};
Real<int(sem_t*, int, unsigned)> real_sem_init{"sem_init"};
Real<int(sem_t*)> real_sem_destroy{"sem_destroy"};
Real<int(pthread_barrier_t*, const pthread_barrierattr_t*, unsigned)> real_barrier_init{
    "pthread_barrier_init"};
Real<int(pthread_barrier_t*)> real_barrier_destroy{"pthread_barrier_destroy"};

/// `result` of the call that was to make the object: 0 where it did, whatever the family.
int made(ObjectKind kind, const void* object, int result) {
  if (result == 0) note_creation(kind, object);
  return result;
}
int destroyed(ObjectKind kind, const void* object, int result) {
  if (result == 0) note_destruction(kind, object);
  return result;
}
static_assert(thrd_success == 0);

}  // namespace

void resolve_life_hooks() {
  real_mutex_init.get(), real_mutex_destroy.get(), real_mtx_init.get(), real_mtx_destroy.get();
  real_rwlock_init.get(), real_rwlock_destroy.get();
  real_cond_init.get(), real_cond_destroy.get(), real_cnd_init.get(), real_cnd_destroy.get();
  real_sem_init.get(), real_sem_destroy.get(), real_barrier_init.get(), real_barrier_destroy.get();
}

VARVE_HOOK int pthread_mutex_init(pthread_mutex_t* mutex, const pthread_mutexattr_t* attributes) noexcept {
  return made(ObjectKind::kMutex, mutex, real_mutex_init(mutex, attributes));
}
VARVE_HOOK int pthread_mutex_destroy(pthread_mutex_t* mutex) noexcept {
  return destroyed(ObjectKind::kMutex, mutex, real_mutex_destroy(mutex));
}
VARVE_HOOK int mtx_init(mtx_t* mutex, int type) noexcept {
  return made(ObjectKind::kMutex, mutex, real_mtx_init(mutex, type));
}
VARVE_HOOK void mtx_destroy(mtx_t* mutex) noexcept {
  real_mtx_destroy(mutex);
  note_destruction(ObjectKind::kMutex, mutex);
}
VARVE_HOOK int pthread_rwlock_init(pthread_rwlock_t* lock, const pthread_rwlockattr_t* attributes) noexcept {
  return made(ObjectKind::kRwLock, lock, real_rwlock_init(lock, attributes));
}
VARVE_HOOK int pthread_rwlock_destroy(pthread_rwlock_t* lock) noexcept {
  return destroyed(ObjectKind::kRwLock, lock, real_rwlock_destroy(lock));
}
VARVE_HOOK int pthread_cond_init(pthread_cond_t* condition, const pthread_condattr_t* attributes) noexcept {
  return made(ObjectKind::kCondition, condition, real_cond_init(condition, attributes));
}
VARVE_HOOK int pthread_cond_destroy(pthread_cond_t* condition) noexcept {
  return destroyed(ObjectKind::kCondition, condition, real_cond_destroy(condition));
}
VARVE_HOOK int cnd_init(cnd_t* condition) noexcept {
  return made(ObjectKind::kCondition, condition, real_cnd_init(condition));
}
VARVE_HOOK void cnd_destroy(cnd_t* condition) noexcept {
  real_cnd_destroy(condition);
  note_destruction(ObjectKind::kCondition, condition);
}
VARVE_HOOK int sem_init(sem_t* semaphore, int shared, unsigned value) noexcept {
  return made(ObjectKind::kSemaphore, semaphore, real_sem_init(semaphore, shared, value));
}
VARVE_HOOK int sem_destroy(sem_t* semaphore) noexcept {
  return destroyed(ObjectKind::kSemaphore, semaphore, real_sem_destroy(semaphore));
}
VARVE_HOOK int pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes,
                                    unsigned count) noexcept {
  return made(ObjectKind::kBarrier, barrier, real_barrier_init(barrier, attributes, count));
}
VARVE_HOOK int pthread_barrier_destroy(pthread_barrier_t* barrier) noexcept {
  return destroyed(ObjectKind::kBarrier, barrier, real_barrier_destroy(barrier));
}

}  // namespace varve::agent
