// SPDX-License-Identifier: MIT
// UnfollowedWaits: when threads waited for others so shortly or so often that their agents added the waits
// up, and wrote no release for each. Nobody knows who ended which of them. Context: viewer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "viewer/analyze/stretches.h"
#include "viewer/load/profile.h"

namespace varve::analyze {

class UnfollowedWaits {
 public:
  explicit UnfollowedWaits(const load::Profile& profile) : ends_(profile.threads.size()) {
    for (const load::Wait& wait : profile.waits.waits)
      if (wait.is_sum() && (format::is_in_memory(wait.kind) || wait.flow != 0))
        ends_[wait.thread.index()].push_back(wait.end_ns);
  }

  /// Whether a time in which the thread was blocked may be one of those waits.
  bool may_have(ThreadId thread, TimeRange blocked) const {
    const std::vector<uint64_t>& ends = ends_[thread.index()];
    const auto next = std::ranges::lower_bound(ends, blocked.begin);
    return next != ends.end() && *next <= blocked.end + kMostAgeNs;
  }

 private:
  /// From the first to the last wait of a sum (agent/signal/short_waits.h).
  static constexpr uint64_t kMostAgeNs = 10 * kNanosPerMilli.count;

  std::vector<std::vector<uint64_t>> ends_;  // by thread: of its sums, by time
};

}  // namespace varve::analyze
