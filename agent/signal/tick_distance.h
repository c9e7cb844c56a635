// SPDX-License-Identifier: MIT
// How far apart ticks of events are: by chance, so that no rhythm of a program is met at the same beat for
// long. Context: signal.
#pragma once

#include <sys/syscall.h>

#include <cstdint>

#include "agent/signal/raw_syscall.h"

namespace varve::agent {

/// A number from 1 to `bound`. The mixer is splitmix64's finaliser.
inline uint64_t random_up_to(uint64_t bound) {
  uint64_t x = __builtin_ia32_rdtsc() ^ uint64_t(raw_syscall(__NR_gettid)) << 32;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return (x ^ x >> 31) % bound + 1;
}

/// Between 7/8 and 9/8 of the interval: the mean is the interval.
inline uint64_t random_distance(uint64_t interval_ns) {
  return interval_ns - interval_ns / 8 + random_up_to(interval_ns / 4);
}

/// To the first tick: any part of the interval but its first 100 us, or short threads that do the same would
/// all be sampled at one place. An event comes at that distance again until its tick is handled, and each
/// time costs 2 us, of a virtual machine up to 50: at the kernel's least, 10 us, a program of 0.3 s took 4
/// there, as one start in thirty did.
inline uint64_t first_distance(uint64_t interval_ns) {
  constexpr uint64_t kLeastNs = 100'000;
  return interval_ns > 2 * kLeastNs ? kLeastNs + random_up_to(interval_ns - kLeastNs)
                                    : random_distance(interval_ns);
}

}  // namespace varve::agent
