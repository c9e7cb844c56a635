// SPDX-License-Identifier: MIT
// sched_getaffinity() of each thread. See affinity_watch.h.
// Context: viewer.
#include "viewer/record/observe/affinity_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/session_keys.h"
#include "viewer/record/clock.h"
#include "viewer/record/host_facts.h"

namespace varve::record::observe {
namespace {

/// A look may take one part in so many of one processor.
constexpr uint64_t kOneIn = 1000;

}  // namespace

void AffinityWatch::look(Nanos now, std::span<const pid_t> threads) {
  const Nanos begin = clock_now(CLOCK_THREAD_CPUTIME_ID);
  cpu_set_t all;
  CPU_ZERO(&all);
  for (pid_t thread : threads) {
    cpu_set_t one;
    CPU_ZERO(&one);
    if (sched_getaffinity(thread, sizeof one, &one) == 0) CPU_OR(&all, &all, &one);
  }
  const bool changed = changes_.empty() || !CPU_EQUAL(&all, &changes_.back().processors);
  if (CPU_COUNT(&all) && changed && changes_.size() < kMostChanges) changes_.push_back({looked_, all});
  const Nanos used = clock_now(CLOCK_THREAD_CPUTIME_ID) - begin;
  looked_ = now;
  next_ = now + std::max(kPeriod, Nanos{used.count * kOneIn});
}

void AffinityWatch::add_facts(std::vector<std::pair<std::string, std::string>>& facts) const {
  for (const Change& change : changes_)
    facts.emplace_back(session_key::kUsable,
                       fmt::format("{} {} {}", saturating_sub(change.since, start_).count,
                                   count_cores(change.processors), processor_list(change.processors)));
}

}  // namespace varve::record::observe
