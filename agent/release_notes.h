// SPDX-License-Identifier: MIT
// ReleaseNotes: for each object who let threads of this process go on last when none of them had waited for
// long. That is no record, since most such waits stay short and are only counted. But a thread that is woken
// may wait for a processor much longer than it did for the object, and then its wait is a record that
// somebody ended: it finds here who. Two objects may share a place, and then the note of one is lost.
// Context: any thread of the target, its signal handlers included.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/wait_format.h"

namespace varve::agent {

struct ReleaseNote {
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC; 0: there is none
  uint32_t thread = 0;   // index of its record
};

class ReleaseNotes {
 public:
  void add(format::ObjectKind kind, uint64_t object, uint32_t thread, uint64_t time_ns) {
    Place& place = places_[index(object)];
    place.time_ns.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    place.object.store(object, std::memory_order_relaxed);
    place.kind.store(kind, std::memory_order_relaxed);
    place.thread.store(thread, std::memory_order_relaxed);
    place.time_ns.store(time_ns, std::memory_order_release);
  }

  /// None while another thread writes there. Of two that write there at once either one's thread may be told.
  ReleaseNote find(format::ObjectKind kind, uint64_t object) const {
    const Place& place = places_[index(object)];
    const uint64_t time_ns = place.time_ns.load(std::memory_order_acquire);
    const bool is_of = place.object.load(std::memory_order_relaxed) == object &&
                       place.kind.load(std::memory_order_relaxed) == kind;
    const uint32_t thread = place.thread.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    const bool same = place.time_ns.load(std::memory_order_relaxed) == time_ns;
    return same && is_of ? ReleaseNote{time_ns, thread} : ReleaseNote{};
  }

 private:
  struct alignas(32) Place {
    std::atomic<uint64_t> time_ns, object;
    std::atomic<uint32_t> thread;
    std::atomic<format::ObjectKind> kind;  // queues and semaphores of System V have the same numbers
  };
  static constexpr uint64_t kPlaces = 1024;

  /// As of Waiters.
  static constexpr uint64_t index(uint64_t object) { return (object >> 3 ^ object >> 13) % kPlaces; }

  alignas(4096) Place places_[kPlaces];
};
static_assert(sizeof(ReleaseNotes) % 4096 == 0);

}  // namespace varve::agent
