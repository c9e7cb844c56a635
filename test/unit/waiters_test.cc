// SPDX-License-Identifier: MIT
// Who waits for what, as threads that let others go on find it: above all the way back from a condition to
// its mutex. Context: tests.
#include "agent/waiters.h"

#include <criterion/criterion.h>

#include "agent/release_notes.h"

using varve::agent::Waiters;

namespace {

constexpr uint64_t kCondition = 0x1000, kMutexAt = 0x2000, kBack = Waiters::return_to(kMutexAt);

Waiters& fresh() {
  static Waiters waiters;
  return waiters;
}

void wait(Waiters& waiters, uint64_t now_ns) {
  waiters.wait_with(kCondition, kMutexAt);
  waiters.enter(kCondition, now_ns);
}
void come_back(Waiters& waiters) {
  waiters.leave(kCondition);
  waiters.be_back(kCondition, kMutexAt);
}

}  // namespace

Test(waiters, a_signalled_thread_is_on_its_way_to_the_mutex) {
  Waiters& waiters = fresh();
  wait(waiters, 10), wait(waiters, 11);
  cr_expect_eq(waiters.count(kBack), 0);
  waiters.signal(kCondition, 1, 20);
  cr_expect_eq(waiters.count(kBack), 1);
  cr_expect_eq(waiters.since_ns(kBack), 20u);
  cr_expect_eq(waiters.count(kMutexAt), 0, "nobody called lock()");
  waiters.unlock_at(kMutexAt, 70);
  cr_expect_eq(waiters.unlocked_ns(kMutexAt), 70u);
  come_back(waiters);
  cr_expect_eq(waiters.count(kBack), 0);
  cr_expect_eq(waiters.count(kCondition), 1);
}

Test(waiters, no_more_come_back_than_wait) {
  Waiters& waiters = fresh();
  waiters.signal(kCondition, 1, 5);
  cr_expect_eq(waiters.count(kBack), 0, "a signal that nobody waits for is lost");
  wait(waiters, 10), wait(waiters, 11), wait(waiters, 12);
  waiters.signal(kCondition, 1, 20), waiters.signal(kCondition, INT32_MAX, 30);
  cr_expect_eq(waiters.count(kBack), 3);
  cr_expect_eq(waiters.since_ns(kBack), 20u, "of the first");
  waiters.signal(kCondition, INT32_MAX, 40);
  cr_expect_eq(waiters.count(kBack), 3);
  come_back(waiters), come_back(waiters), come_back(waiters);
  cr_expect_eq(waiters.count(kBack), 0);
}

/// Two signals may wake one thread; once nobody waits any more nobody is on the way.
Test(waiters, signals_that_woke_nobody_are_forgotten) {
  Waiters& waiters = fresh();
  wait(waiters, 10), wait(waiters, 11);
  waiters.signal(kCondition, 2, 20);
  come_back(waiters);
  wait(waiters, 25);
  waiters.signal(kCondition, 1, 30);
  come_back(waiters), come_back(waiters);
  cr_expect_eq(waiters.count(kCondition), 0);
  cr_expect_eq(waiters.count(kBack), 0);
}

Test(release_notes, tell_who_was_last) {
  using varve::format::ObjectKind;
  static varve::agent::ReleaseNotes notes;
  const auto find = [](uint64_t object, ObjectKind kind = ObjectKind::kMutex) {
    return notes.find(kind, object);
  };
  cr_expect_eq(find(kMutexAt).time_ns, 0u);
  notes.add(ObjectKind::kMutex, kMutexAt, 3, 10);
  notes.add(ObjectKind::kMutex, kMutexAt, 4, 20);
  cr_expect_eq(find(kMutexAt).time_ns, 20u);
  cr_expect_eq(find(kMutexAt).thread, 4u);
  cr_expect_eq(find(kMutexAt, ObjectKind::kSemaphore).time_ns, 0u, "another kind of the same number");
  cr_expect_eq(find(kCondition).time_ns, 0u);
  constexpr uint64_t kSamePlace = kMutexAt ^ 1u << 3 ^ 1u << 13;
  notes.add(ObjectKind::kMutex, kSamePlace, 5, 30);
  cr_expect_eq(find(kMutexAt).time_ns, 0u, "taken by the other");
  cr_expect_eq(find(kSamePlace).thread, 5u);
}
