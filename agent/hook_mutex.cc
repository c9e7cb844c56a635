// SPDX-License-Identifier: MIT
// Mutexes. One whose lock word is 0 is free, and is locked as ever: a look costs a nanosecond, a trylock
// four. So a wait is not seen where another thread takes the mutex between the two. One that is not free is
// asked by trylock, and only EBUSY means that the thread will wait; any other answer (EOWNERDEAD holds the
// lock) is the answer. Context: any thread
// of the target.
#include <pthread.h>
#include <sys/single_threaded.h>
#include <threads.h>

#include <cerrno>

#include "agent/hooks.h"
#include "agent/real.h"
#include "agent/wait_trace.h"

namespace varve::agent {
namespace {

using Mutex = pthread_mutex_t;

Real<int(Mutex*)> real_lock{"pthread_mutex_lock"};
Real<int(Mutex*)> real_trylock{"pthread_mutex_trylock"};
Real<int(Mutex*)> real_unlock{"pthread_mutex_unlock"};
Real<int(Mutex*, const timespec*)> real_timedlock{"pthread_mutex_timedlock"};
Real<int(Mutex*, clockid_t, const timespec*)> real_clocklock{"pthread_mutex_clocklock"};
Real<int(mtx_t*)> real_mtx_lock{"mtx_lock"};
Real<int(mtx_t*)> real_mtx_trylock{"mtx_trylock"};
Real<int(mtx_t*)> real_mtx_unlock{"mtx_unlock"};
Real<int(mtx_t*, const timespec*)> real_mtx_timedlock{"mtx_timedlock"};

/// nptl's word of a lock: 0 where it is free (nptl/pthreadP.h).
int lock_word(const Mutex& mutex) { return __atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED); }
int lock_word(const mtx_t& mutex) { return lock_word(reinterpret_cast<const Mutex&>(mutex)); }

/// Also where nobody asks. A process with one thread does not look: the word of a lock that was unlocked just
/// now is not there yet.
template <typename Object>
bool is_free(const Object& mutex) {
  return !traces_waits() || __libc_single_threaded || lock_word(mutex) == 0;
}

/// 2 where unlocking will wake a thread, or, of robust and priority-inheriting mutexes, the owner with
/// FUTEX_WAITERS, which is the sign. A ceiling of priorities has bits of its own. A number of a thread that
/// looks like 2 is taken for it.
bool wakes(int word) {
  constexpr int kWithoutCeiling = 0x7ffff;
  return word < 0 || (word & kWithoutCeiling) == 2;
}

/// By `lock`, which may wait.
template <typename Object, typename Try, typename Lock>
[[gnu::noinline]] int lock_that_is_held(Object* mutex, Try& try_lock, int busy, Lock lock) {
  const int result = try_lock(mutex);
  if (result != busy) return result;
  Waiting waiting(format::ObjectKind::kMutex, object_of(mutex));
  return lock();
}

template <typename Object, typename Try, typename Lock>
int locked(Object* mutex, Try& try_lock, int busy, Lock lock) {
  if (is_free(*mutex)) return lock();
  return lock_that_is_held(mutex, try_lock, busy, lock);
}

/// With a time limit, which is judged by who locks: a trylock would take the mutex whatever that is.
template <typename Object, typename Lock>
int locked_in_time(Object* mutex, Lock lock) {
  if (is_free(*mutex)) return lock();
  Waiting waiting(format::ObjectKind::kMutex, object_of(mutex), Asked::kNo);
  return waiting.returned(lock());
}

template <typename Object, typename Unlock>
[[gnu::noinline]] int unlock_for_others(Object* mutex, Unlock& unlock) {
  const uint64_t object = object_of(mutex);
  const uint64_t place = anybody_waits(object) ? object : Waiters::return_to(object);
  Releasing releasing(format::ObjectKind::kMutex, object, place);
  return unlock(mutex);
}

/// By lock(), or within a wait for a condition.
bool anybody_wants(const void* mutex) {
  return anybody_waits(mutex) || anybody_waits(Waiters::return_to(object_of(mutex)));
}

template <typename Object, typename Unlock>
int unlocked(Object* mutex, Unlock& unlock) {
  // The table last: others write to it while this thread has the lock, so a look takes as long as many locks
  // are held. A look at the lock word waits for the locking to be done, but nobody else's.
  return had_waiters() && wakes(lock_word(*mutex)) && anybody_wants(mutex) ? unlock_for_others(mutex, unlock)
                                                                           : unlock(mutex);
}

}  // namespace

void resolve_mutex_hooks() {
  real_lock.get(), real_trylock.get(), real_unlock.get(), real_timedlock.get(), real_clocklock.get();
  real_mtx_lock.get(), real_mtx_trylock.get(), real_mtx_unlock.get(), real_mtx_timedlock.get();
}

VARVE_HOOK int pthread_mutex_lock(Mutex* mutex) noexcept {
  return locked(mutex, real_trylock, EBUSY, [=] { return real_lock(mutex); });
}
VARVE_HOOK int pthread_mutex_timedlock(Mutex* mutex, const timespec* until) noexcept {
  return locked_in_time(mutex, [=] { return real_timedlock(mutex, until); });
}
VARVE_HOOK int pthread_mutex_clocklock(Mutex* mutex, clockid_t clock, const timespec* until) noexcept {
  return locked_in_time(mutex, [=] { return real_clocklock(mutex, clock, until); });
}
VARVE_HOOK int pthread_mutex_unlock(Mutex* mutex) noexcept { return unlocked(mutex, real_unlock); }

VARVE_HOOK int mtx_lock(mtx_t* mutex) {
  return locked(mutex, real_mtx_trylock, thrd_busy, [=] { return real_mtx_lock(mutex); });
}
VARVE_HOOK int mtx_timedlock(mtx_t* mutex, const timespec* until) {
  return locked_in_time(mutex, [=] { return real_mtx_timedlock(mutex, until); });
}
VARVE_HOOK int mtx_unlock(mtx_t* mutex) { return unlocked(mutex, real_mtx_unlock); }

}  // namespace varve::agent
