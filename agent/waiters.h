// SPDX-License-Identifier: MIT
// Waiters: for each object whether threads of this process wait for it, and since when the first of them
// does. A thread that lets others go on looks here, a nanosecond, before it spends anything on saying so. Two
// objects may share a place; then one more release is recorded, which nothing was waiting for. Not a list of
// the waiting threads.
//
// Who signals a condition while it has the mutex lets nobody go on yet: the thread that is woken waits for
// the mutex, within the C library. So a mutex has a second place, for threads that were signalled and are not
// back. Context: any thread of the target, its signal handlers included.
#pragma once

#include <atomic>
#include <cstdint>

namespace varve::agent {

class Waiters {
 public:
  /// Threads that wait; also those that wait for another object of the same place.
  int32_t count(uint64_t object) const { return place_of(object).count.load(std::memory_order_relaxed); }
  /// CLOCK_MONOTONIC, when the first of them began to; of no meaning where there is none.
  uint64_t since_ns(uint64_t object) const {
    return place_of(object).since_ns.load(std::memory_order_relaxed);
  }

  void enter(uint64_t object, uint64_t now_ns) {
    Place& place = place_of(object);
    if (place.count.fetch_add(1, std::memory_order_relaxed) == 0)
      place.since_ns.store(now_ns, std::memory_order_relaxed);
  }
  /// All that waited were let go on: who is there yet is on its way, and the next wait from now on.
  void let_go(uint64_t object, uint64_t now_ns) {
    place_of(object).since_ns.store(now_ns, std::memory_order_relaxed);
  }
  /// A thread begins to wait for a condition with this mutex.
  void wait_with(uint64_t condition, uint64_t mutex) {
    place_of(condition).other.store(mutex, std::memory_order_relaxed);
  }
  /// So many of those that wait for the condition are about to be woken; no more than there are.
  void signal(uint64_t condition, int32_t threads, uint64_t now_ns) {
    const Place& waiting = place_of(condition);
    Place& back = place_of(return_to(waiting.other.load(std::memory_order_relaxed)));
    const int32_t room =
        waiting.count.load(std::memory_order_relaxed) - back.count.load(std::memory_order_relaxed);
    if (room <= 0) return;
    if (back.count.fetch_add(threads < room ? threads : room, std::memory_order_relaxed) == 0)
      back.since_ns.store(now_ns, std::memory_order_relaxed);
  }
  /// A mutex was unlocked for those that are on their way back.
  void unlock_at(uint64_t mutex, uint64_t now_ns) {
    place_of(return_to(mutex)).other.store(now_ns, std::memory_order_relaxed);
  }
  /// When the last of those unlocks was; 0: never.
  uint64_t unlocked_ns(uint64_t mutex) const {
    return place_of(return_to(mutex)).other.load(std::memory_order_relaxed);
  }
  /// A thread is back from the condition. Signals that woke nobody are forgotten with the last one.
  void be_back(uint64_t condition, uint64_t mutex) {
    if (count(condition) > 0)
      leave(return_to(mutex));
    else
      place_of(return_to(mutex)).count.store(0, std::memory_order_relaxed);
  }
  /// The second place of a mutex; within it there is no other object.
  static constexpr uint64_t return_to(uint64_t mutex) { return mutex + sizeof(uint64_t); }

  /// A child of a fork within the wait has not entered.
  void leave(uint64_t object) {
    std::atomic<int32_t>& count = place_of(object).count;
    if (count.load(std::memory_order_relaxed) > 0) count.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  /// All in one line of the cache: who has the lock looks at them.
  struct alignas(32) Place {
    std::atomic<int32_t> count;
    std::atomic<uint64_t> since_ns;
    std::atomic<uint64_t> other;  // of a condition, its mutex; of a mutex's second place, unlocked_ns()
  };
  static constexpr uint64_t kPlaces = 4096;

  /// Objects are some dozens of bytes apart, or pages. A multiplication would spread them better and take
  /// as long as the rest of the look.
  static constexpr uint64_t index(uint64_t object) { return (object >> 3 ^ object >> 15) % kPlaces; }
  Place& place_of(uint64_t object) { return places_[index(object)]; }
  const Place& place_of(uint64_t object) const { return places_[index(object)]; }

  alignas(4096) Place places_[kPlaces];
};
static_assert(sizeof(Waiters) % 4096 == 0);

}  // namespace varve::agent
