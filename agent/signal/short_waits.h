// SPDX-License-Identifier: MIT
// ShortWaits: waits of one thread that are too short for a record each, added up by object until they are
// written as one. Context: the thread itself.
#pragma once

#include <cstdint>

#include "common/wait_format.h"

namespace varve::agent {

struct WaitSum {
  format::ObjectKind kind = format::ObjectKind::kNone;  // kNone: empty
  uint64_t object = 0;
  uint64_t duration_ns = 0;
  uint32_t count = 0;
  uint64_t first_ns = 0, last_ns = 0;  // ends of the first and the last wait
};

class ShortWaits {
 public:
  static constexpr uint32_t kSums = 4;

  /// Adds a wait that ended at `end_ns`. What it returns has to be written: the sum that it displaced, or one
  /// that is kMostAge old; empty if neither.
  WaitSum add(format::ObjectKind kind, uint64_t object, uint64_t end_ns, uint64_t duration_ns) {
    WaitSum& sum = sums_[(object >> 3 ^ object >> 9) % kSums];
    const bool goes_on = sum.kind == kind && sum.object == object && end_ns < sum.first_ns + kMostAgeNs;
    const WaitSum before = goes_on ? WaitSum() : sum;
    if (!goes_on) sum = {kind, object, 0, 0, end_ns, end_ns};
    sum.duration_ns += duration_ns;
    sum.last_ns = end_ns;
    ++sum.count;
    return before;
  }

  WaitSum take(uint32_t which) {
    const WaitSum sum = sums_[which];
    sums_[which] = {};
    return sum;
  }

 private:
  /// The level of concurrency is that of the sum's end: no more than an interval may be in one.
  static constexpr uint64_t kMostAgeNs = 10'000'000;

  WaitSum sums_[kSums];
};

}  // namespace varve::agent
