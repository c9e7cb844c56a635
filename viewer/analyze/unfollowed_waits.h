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
      : waits_(profile.waits.waits), sums_(profile.threads.size()) {
    for (uint32_t row = 0; row < waits_.size(); ++row)
      if (waits_[row].is_sum()) sums_[waits_[row].thread.index()].push_back(row);
  }

  /// Whether a time in which the thread was blocked may be one of those for another thread.
  bool may_have(ThreadId thread, TimeRange blocked) const {
    const auto next = first_after(thread, blocked.begin);
    return std::ranges::any_of(next.first(std::min(next.size(), kMostLooks)), [&](uint32_t row) {
      const load::Wait& wait = waits_[row];
      return (format::is_in_memory(wait.kind) || wait.flow != 0) && wait.end_ns <= blocked.end + kMostAgeNs;
    });
  }

  /// The row of Waits::waits by whose look such a time was added up: the first that has not ended before, for
  /// times go to the nearest look, see add_observed_waits(). Nothing: there is none.
  std::optional<uint32_t> observed(ThreadId thread, TimeRange blocked) const {
    const auto next = first_after(thread, blocked.end);
    for (const uint32_t row : next.first(std::min(next.size(), kMostLooks)))
      if (waits_[row].observed)
        return waits_[row].end_ns <= blocked.end + kMostLookAgeNs ? std::optional(row) : std::nullopt;
    return {};
  }

  /// Rows of Waits::waits, one for each way of a pipe, that may have a time in which the thread was blocked.
  std::vector<uint32_t> pipes(ThreadId thread, TimeRange blocked) const {
    std::vector<uint32_t> rows;
    const auto next = first_after(thread, blocked.begin);
    for (const uint32_t row : next.first(std::min(next.size(), kMostLooks))) {
      const load::Wait& wait = waits_[row];
      if (wait.end_ns > blocked.end + (wait.observed ? kMostLookAgeNs : kMostAgeNs)) break;
      const auto same = [&](uint32_t other) {
        return waits_[other].flow == wait.flow && waits_[other].object == wait.object;
      };
      if (wait.flow != 0 && std::ranges::none_of(rows, same)) rows.push_back(row);
    }
    return rows;
  }

 private:
  /// From the first to the last wait of a sum (agent/signal/short_waits.h); of those that looks stand for.
  static constexpr uint64_t kMostAgeNs = 10 * kNanosPerMilli.count;
  static constexpr uint64_t kMostLookAgeNs = kNanosPerSecond.count;
  static constexpr size_t kMostLooks = 8;

  std::span<const uint32_t> first_after(ThreadId thread, uint64_t time_ns) const {
    const std::vector<uint32_t>& rows = sums_[thread.index()];
    const auto end_of = [&](uint32_t row) { return waits_[row].end_ns; };
    return std::span(rows).subspan(
        size_t(std::ranges::lower_bound(rows, time_ns, {}, end_of) - rows.begin()));
  }

  const std::vector<load::Wait>& waits_;
  std::vector<std::vector<uint32_t>> sums_;  // by thread: rows of its sums, by their end
};

}  // namespace varve::analyze
