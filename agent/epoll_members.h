// SPDX-License-Identifier: MIT
// EpollMembers: which descriptor it is that an epoll descriptor found ready. The kernel gives back no more
// than the data that the program gave with it, so what that gave is kept, as far as there is room: of two
// with the same place the later. What is added by system calls of the program's own is not known. Context:
// any thread of the target, its signal handlers included.
#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <cstdint>

#include "agent/descriptor_wait.h"

namespace varve::agent {

class EpollMembers {
 public:
  void add(int epoll, uint64_t data, int fd) {
    const uint64_t hash = hash_of(epoll, data);
    place(hash).store((hash & kTag) | unsigned(fd), std::memory_order_relaxed);
  }

  /// -1: nobody knows.
  int find(int epoll, uint64_t data) const {
    const uint64_t hash = hash_of(epoll, data);
    const uint64_t is = places_[hash % kPlaces].load(std::memory_order_relaxed);
    return is != 0 && (is & kTag) == (hash & kTag) ? int(uint32_t(is)) : -1;
  }

 private:
  static constexpr uint32_t kPlaces = 2048;
  static constexpr uint64_t kTag = ~uint64_t{UINT32_MAX};  // the rest is the descriptor

  std::atomic<uint64_t>& place(uint64_t hash) { return places_[hash % kPlaces]; }

  static uint64_t hash_of(int epoll, uint64_t data) {
    uint64_t hash = (data ^ uint64_t(unsigned(epoll)) << 40) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
  }

  std::atomic<uint64_t> places_[kPlaces] = {};
};
extern EpollMembers epoll_members __attribute__((visibility("hidden")));

/// The object of a wait that found this: the descriptor, if it is known.
inline uint64_t awaited_by_epoll(int epoll, const epoll_event& found) {
  const int fd = epoll_members.find(epoll, found.data.u64);
  if (fd < 0) return uint64_t(unsigned(epoll));
  return awaited_by(fd, found.events & (EPOLLIN | EPOLLHUP) ? Way::kIn : Way::kOut);
}

/// Long waits are for the first of what was found. Short ones are for the epoll descriptor: those of a
/// server with many connections would otherwise be as many sums.
template <typename Call>
int waited_by_epoll(int epoll, const epoll_event* events, Call call) {
  Waiting waiting(format::ObjectKind::kPoll, uint64_t(unsigned(epoll)), Asked::kNo);
  const int found = waiting.found_ready(call());
  if (found > 0) waiting.was_for_if_long(awaited_by_epoll(epoll, events[0]));
  return found;
}

}  // namespace varve::agent
