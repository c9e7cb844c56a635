// SPDX-License-Identifier: MIT
// UnfollowedWaits: waits that were too short or too many for a record each, and were added up: by agents,
// which wrote no release for each, and by looks from outside, which stand for those around them. Nobody knows
// who ended which of them. Context: viewer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "viewer/analyze/stretches.h"
#include "viewer/load/profile.h"

namespace varve::analyze {

class UnfollowedWaits {
 public:
  explicit UnfollowedWaits(const load::Profile& profile)
      : waits_(profile.waits.waits),
        for_threads_(profile.threads.size()),
        for_pipes_(profile.threads.size()),
        observed_(profile.threads.size()) {
    for (uint32_t row = 0; row < waits_.size(); ++row) {
      const load::Wait& wait = waits_[row];
      if (!wait.is_sum()) continue;
      const size_t thread = wait.thread.index();
      if (format::is_in_memory(wait.kind) || wait.flow != 0) for_threads_[thread].push_back(row);
      if (wait.flow != 0) for_pipes_[thread].push_back(row);
      if (wait.observed) observed_[thread].push_back(row);
    }
  }

  /// Whether a time in which the thread was blocked may be one of those for another thread.
  bool may_have(ThreadId thread, TimeRange blocked) const {
    const auto next = ended_since(for_threads_[thread.index()], blocked.begin);
    return !next.empty() && waits_[next.front()].end_ns <= blocked.end + load::kMostSumAgeNs;
  }

  /// The row of Waits::waits by whose look such a time was added up: the first that has not ended before, for
  /// times go to the nearest look, see add_observed_waits(). Nothing: there is none.
  std::optional<uint32_t> observed(ThreadId thread, TimeRange blocked) const {
    const auto next = ended_since(observed_[thread.index()], blocked.end);
    if (next.empty() || !load::may_be_of(waits_[next.front()], blocked.length(), blocked.end)) return {};
    return next.front();
  }

  /// Rows of Waits::waits, one for each way of a pipe, that may have a time in which the thread was blocked.
  std::vector<uint32_t> pipes(ThreadId thread, TimeRange blocked) const {
    std::vector<uint32_t> rows;
    const auto next = ended_since(for_pipes_[thread.index()], blocked.begin);
    for (const uint32_t row : next.first(std::min(next.size(), kMostLooks))) {
      const load::Wait& wait = waits_[row];
      const auto same = [&](uint32_t other) {
        return waits_[other].flow == wait.flow && waits_[other].object == wait.object;
      };
      if (load::may_be_of(wait, blocked.length(), blocked.end) && std::ranges::none_of(rows, same))
        rows.push_back(row);
    }
    return rows;
  }

 private:
  static constexpr size_t kMostLooks = 8;

  std::span<const uint32_t> ended_since(const std::vector<uint32_t>& rows, uint64_t time_ns) const {
    const auto end_of = [&](uint32_t row) { return waits_[row].end_ns; };
    const auto first = std::ranges::lower_bound(rows, time_ns, {}, end_of);
    return std::span(rows).subspan(size_t(first - rows.begin()));
  }

  const std::vector<load::Wait>& waits_;
  /// By thread: rows of its sums, by their end.
  std::vector<std::vector<uint32_t>> for_threads_, for_pipes_, observed_;
};

}  // namespace varve::analyze
