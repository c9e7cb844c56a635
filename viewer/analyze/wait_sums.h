// SPDX-License-Identifier: MIT
// WaitSum: waits added up, of an object, a function, a thread, a call path; and grouping them by any key.
// Context: viewer.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "viewer/analyze/counted_waits.h"

namespace varve::analyze {

struct WaitSum {
  uint64_t wait_ns = 0, count = 0;
  uint32_t threads = 0;  // that waited
  BandTimes::Times bands{};

  uint64_t poorly_used_ns() const { return bands[size_t(Band::kIdle)] + bands[size_t(Band::kPoor)]; }

  /// ns in the mean of the waits that `count` has; 0 where it has none. Waits that go on after the range have
  /// time there and end elsewhere.
  uint64_t mean_ns() const { return count == 0 ? 0 : counted_ns_ / count; }

  /// ns of the longest wait; 0 if that is not known: waits that are known by their sum only were longer in
  /// the mean than any that is known alone.
  uint64_t longest_ns() const { return longest_alone_ns_ < mean_together_ns_ ? 0 : longest_alone_ns_; }

  /// `threads` is the caller's business, here and below: nobody can add numbers of different threads up.
  void add(const CountedWait& counted, const load::Wait& wait) {
    add_numbers(counted.time_ns, counted.count, counted.bands);
    if (counted.count != 0) counted_ns_ += counted.time_ns;
    if (!wait.is_sum())
      longest_alone_ns_ = std::max(longest_alone_ns_, counted.time_ns);
    else
      mean_together_ns_ = std::max(mean_together_ns_, counted.time_ns / std::max<uint64_t>(1, counted.count));
  }
  void add(const WaitSum& other) {
    add_numbers(other.wait_ns, other.count, other.bands);
    counted_ns_ += other.counted_ns_;
    longest_alone_ns_ = std::max(longest_alone_ns_, other.longest_alone_ns_);
    mean_together_ns_ = std::max(mean_together_ns_, other.mean_together_ns_);
  }

 private:
  void add_numbers(uint64_t time_ns, uint64_t number, const BandTimes::Times& by_band) {
    wait_ns += time_ns;
    count += number;
    for (size_t band = 0; band < kBands; ++band) bands[band] += by_band[band];
  }

  uint64_t counted_ns_ = 0;  // of waits that `count` has
  uint64_t longest_alone_ns_ = 0;
  uint64_t mean_together_ns_ = 0;  // the greatest of means
};

template <typename Key>
struct WaitGroup : WaitSum {
  Key key;
};

/// The sums of waits with the same key_of(wait), in the order of keys.
template <typename KeyOf>
auto wait_groups(const load::Profile& profile, const std::vector<CountedWait>& counted, const KeyOf& key_of) {
  using Key = std::decay_t<decltype(key_of(profile.waits.waits.front()))>;
  struct Both {
    WaitSum sum;
    std::set<ThreadId> threads;
  };
  std::map<Key, Both> found;
  for (const CountedWait& each : counted) {
    const load::Wait& wait = profile.waits.waits[each.row];
    Both& both = found[key_of(wait)];
    both.sum.add(each, wait);
    both.threads.insert(wait.thread);
  }
  std::vector<WaitGroup<Key>> groups;
  for (const auto& [key, both] : found) {
    groups.push_back({both.sum, key});
    groups.back().threads = uint32_t(both.threads.size());
  }
  return groups;
}

}  // namespace varve::analyze
