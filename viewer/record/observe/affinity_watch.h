// SPDX-License-Identifier: MIT
// AffinityWatch: which processors the threads of the run may use, looked up again and again: programs change
// that themselves, or are started by one that does (taskset, numactl). What all of them together may use
// counts: threads that are pinned to one processor each still use them all.
// Context: viewer, the observer's thread.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/units.h"

namespace varve::record::observe {

class AffinityWatch {
 public:
  /// The first look tells of the time since `start`. It waits for what starts the program to have done so.
  void begin(Nanos start) {
    start_ = looked_ = start;
    next_ = start + kPeriod;
  }

  /// Whether it is time to look. A look at a thousand threads takes half a millisecond, so it comes seldom.
  bool due(Nanos now) const { return now >= next_; }
  void look(Nanos now, std::span<const pid_t> threads);

  /// A session fact for each time that it changed: since when, physical cores, processors.
  void add_facts(std::vector<std::pair<std::string, std::string>>& facts) const;

 private:
  struct Change {
    Nanos since;
    cpu_set_t processors;
  };
  static constexpr Nanos kPeriod{20 * kNanosPerMilli.count};
  /// More often than this is a program at play; the last one is left to hold.
  static constexpr size_t kMostChanges = 64;

  std::vector<Change> changes_;
  Nanos start_, looked_, next_;
};

}  // namespace varve::record::observe
