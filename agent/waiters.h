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
  struct alignas(16) Place {
    std::atomic<int32_t> count{0};
    std::atomic<uint64_t> since_ns{0};  // CLOCK_MONOTONIC; of the first, as long as there are any
  };

  Place& of(uint64_t object) { return places_[object * 0x9e3779b97f4a7c15u >> (64 - kBits)]; }

  void enter(uint64_t object, uint64_t now_ns) {
    Place& place = of(object);
    if (place.count.fetch_add(1, std::memory_order_relaxed) == 0)
      place.since_ns.store(now_ns, std::memory_order_relaxed);
  }
  /// A child of a fork within the wait has not entered.
  void leave(uint64_t object) {
    std::atomic<int32_t>& count = of(object).count;
    if (count.load(std::memory_order_relaxed) > 0) count.fetch_sub(1, std::memory_order_relaxed);
  }

  /// A forked child begins with nobody: its pages read as zeros again. Called once, by the parent.
  void wipe_on_fork();

 private:
  static constexpr unsigned kBits = 12;

  alignas(4096) Place places_[size_t{1} << kBits];
};

}  // namespace varve::agent
