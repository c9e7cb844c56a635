// SPDX-License-Identifier: MIT
// Waiters: for each object whether threads of this process wait for it, and since when the first of them
// does. A thread that lets others go on looks here, a nanosecond, before it spends anything on saying so. Two
// objects may share a place; then one more release is recorded, which nothing was waiting for. Not a list of
// the waiting threads. Context: any thread of the target, its signal handlers included.
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
  /// A child of a fork within the wait has not entered.
  void leave(uint64_t object) {
    std::atomic<int32_t>& count = place_of(object).count;
    if (count.load(std::memory_order_relaxed) > 0) count.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  /// Both in one line of the cache: who has the lock looks at both.
  struct alignas(16) Place {
    std::atomic<int32_t> count;
    std::atomic<uint64_t> since_ns;
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
