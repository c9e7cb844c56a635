// SPDX-License-Identifier: MIT
// Condition variables: who waits always waits, and lets go of the mutex first, for which others may wait.
// Who signals a condition looks whether anybody waits for it. Context: any thread of the target.
#include <pthread.h>
#include <threads.h>

#include "agent/hooks.h"
#include "agent/real.h"
#include "agent/wait_trace.h"

namespace varve::agent {
namespace {

using Condition = pthread_cond_t;
using Mutex = pthread_mutex_t;

Real<int(Condition*, Mutex*)> real_wait{"pthread_cond_wait"};
Real<int(Condition*, Mutex*, const timespec*)> real_timedwait{"pthread_cond_timedwait"};
Real<int(Condition*, Mutex*, clockid_t, const timespec*)> real_clockwait{"pthread_cond_clockwait"};
Real<int(Condition*)> real_signal{"pthread_cond_signal"};
Real<int(Condition*)> real_broadcast{"pthread_cond_broadcast"};
Real<int(cnd_t*, mtx_t*)> real_cnd_wait{"cnd_wait"};
Real<int(cnd_t*, mtx_t*, const timespec*)> real_cnd_timedwait{"cnd_timedwait"};
Real<int(cnd_t*)> real_cnd_signal{"cnd_signal"};
Real<int(cnd_t*)> real_cnd_broadcast{"cnd_broadcast"};

template <typename Wait>
int waited(const void* condition, const void* mutex, Wait wait) {
  { Releasing releasing(format::ObjectKind::kMutex, mutex); }
  Waiting waiting(format::ObjectKind::kCondition, object_of(condition));
  waiting.is_with(object_of(mutex));
  return waiting.returned(wait());
}

constexpr int32_t kAll = INT32_MAX;

template <typename Object, typename Real>
int signalled(Object* condition, Real& signal, int32_t threads) {
  if (!anybody_waits(condition)) return signal(condition);
  note_signal(object_of(condition), threads);
  Releasing releasing(format::ObjectKind::kCondition, condition);
  return signal(condition);
}

}  // namespace

void resolve_condition_hooks() {
  real_wait.get(), real_timedwait.get(), real_clockwait.get(), real_signal.get(), real_broadcast.get();
  real_cnd_wait.get(), real_cnd_timedwait.get(), real_cnd_signal.get(), real_cnd_broadcast.get();
}

VARVE_HOOK int pthread_cond_wait(Condition* condition, Mutex* mutex) {
  return waited(condition, mutex, [=] { return real_wait(condition, mutex); });
}
VARVE_HOOK int pthread_cond_timedwait(Condition* condition, Mutex* mutex, const timespec* until) {
  return waited(condition, mutex, [=] { return real_timedwait(condition, mutex, until); });
}
VARVE_HOOK int pthread_cond_clockwait(Condition* condition, Mutex* mutex, clockid_t clock,
                                      const timespec* until) {
  return waited(condition, mutex, [=] { return real_clockwait(condition, mutex, clock, until); });
}
VARVE_HOOK int pthread_cond_signal(Condition* condition) noexcept {
  return signalled(condition, real_signal, 1);
}
VARVE_HOOK int pthread_cond_broadcast(Condition* condition) noexcept {
  return signalled(condition, real_broadcast, kAll);
}

VARVE_HOOK int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  return waited(condition, mutex, [=] { return real_cnd_wait(condition, mutex); });
}
VARVE_HOOK int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  return waited(condition, mutex, [=] { return real_cnd_timedwait(condition, mutex, until); });
}
VARVE_HOOK int cnd_signal(cnd_t* condition) { return signalled(condition, real_cnd_signal, 1); }
VARVE_HOOK int cnd_broadcast(cnd_t* condition) { return signalled(condition, real_cnd_broadcast, kAll); }

}  // namespace varve::agent
