// SPDX-License-Identifier: MIT
// What the handler may take of a thread's CPU time. Where it takes more than 2 % of it, or 20 us a tick where
// ticks come more often than every millisecond, the thread's interval is doubled, and again, and stays so; a
// sample that costs more than the interval would otherwise keep the thread from doing anything else. Weights
// are CPU time, so no time is lost, only detail. Not the bound of a single walk: that is walk_limit().
// Context: signal; ThreadBlock holds one.
#pragma once

#include <cstdint>

#include "common/file_format.h"

namespace varve::agent {

class SelfLimit {
 public:
  /// A tick is over that began at `cpu_ns` of the thread's CPU clock and took `took_ns`; `interval_ns` is
  /// what the thread's ticks have by now. True: the interval is to be doubled now.
  bool exceeded_by(uint64_t cpu_ns, uint64_t took_ns, uint64_t interval_ns) {
    if (ticks_++ == 0) begin_cpu_ns_ = cpu_ns;
    all_ns_ += took_ns;
    longest_ns_ = took_ns > longest_ns_ ? took_ns : longest_ns_;
    const uint64_t taken_ns = all_ns_ - longest_ns_, passed_ns = cpu_ns + took_ns - begin_cpu_ns_;
    const uint64_t share = interval_ns >= kShareFromNs ? kShare : kShare * interval_ns / kShareFromNs;
    const bool far_beyond = is_enough(kFewTicks, passed_ns) && taken_ns > passed_ns / (share < 8 ? 2 : 8);
    if (!is_enough(kTicks, passed_ns) && !far_beyond) return false;
    const bool exceeds = taken_ns * share > passed_ns && doublings_ < format::kMostIntervalDoublings;
    if (exceeds) ++doublings_;
    ticks_ = 0, all_ns_ = 0, longest_ns_ = 0;
    return exceeds;
  }

  uint32_t doublings() const { return doublings_; }

 private:
  /// So many ticks, and as many as make the time that they have at the interval from which on the share
  /// counts. The longest of them is left out: where a hypervisor takes the processor away for half a
  /// millisecond, that is charged to whoever runs, and once in a tick must not cost the thread its detail.
  bool is_enough(uint32_t ticks, uint64_t passed_ns) const {
    return ticks_ >= ticks && passed_ns >= (ticks - 1) * kShareFromNs;
  }

  static constexpr uint64_t kShare = 50;               // the reciprocal of 2 %
  static constexpr uint64_t kShareFromNs = 1'000'000;  // of shorter intervals, as much more
  /// What is judged: long enough for the first ticks, which fill the cache of rules, to count for little.
  static constexpr uint32_t kTicks = 64;
  /// Enough where the handler takes six times as much, or half of the time of short intervals: that is no
  /// chance.
  static constexpr uint32_t kFewTicks = 4;

  uint64_t begin_cpu_ns_ = 0, all_ns_ = 0, longest_ns_ = 0;  // since the last decision
  uint32_t ticks_ = 0;
  uint32_t doublings_ = 0;
};

}  // namespace varve::agent
