// SPDX-License-Identifier: MIT
// See select_waits.h.
// Context: viewer.
#include "viewer/analyze/select_waits.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "viewer/analyze/counted_waits.h"

namespace varve::analyze {
namespace {

class Adder {
 public:
  Adder(const load::Profile& profile, bool banded) : width_(banded ? kWaitMetricCount : kMetricCount) {
    selection_.by_path = PathTimes(profile.paths.size(), width_, profile.waits.waits.size() + 1);
    selection_.by_thread = MetricTable(profile.threads.size() + 1, width_);
    selection_.kept.resize(width_);
    selection_.filtered_out.resize(width_);
  }

  void add(bool pass, ThreadId thread, PathId path, const CountedWait& wait) {
    std::array<uint64_t, kWaitMetricCount> row = {wait.time_ns, wait.count};
    constexpr std::array<Metric, kBands> kColumns = {kIdleWait, kPoor, kOk, kIdeal, kOver};
    for (size_t band = 0; band < kBands; ++band) row[kColumns[band]] = wait.bands[band];
    const std::span<const uint64_t> numbers = std::span(row).first(width_);
    std::vector<uint64_t>& total = pass ? selection_.kept : selection_.filtered_out;
    for (size_t k = 0; k < width_; ++k) total[k] += numbers[k];
    if (!pass) return;
    selection_.by_path.add(path.index(), numbers);
    selection_.by_thread.add(thread.index(), numbers);
  }

  Selection selection() && { return std::move(selection_); }

 private:
  const size_t width_;
  Selection selection_;
};

/// What no hook saw of each thread's Wait.
void add_other_waits(const load::Profile& profile, const PassingRows& passes, const Filter& filter,
                     std::vector<uint64_t> seen, Adder& adder) {
  Filter when;
  when.from = filter.from;
  when.to = filter.to;
  const std::vector<uint64_t> waits = wait_by_thread(profile, when);
  for (uint32_t i = 0; i < waits.size(); ++i)
    if (waits[i] > seen[i]) adder.add(passes({i}, {0}), {i}, {0}, CountedWait{0, waits[i] - seen[i], 0, {}});
}

}  // namespace

Selection select_waits(const load::Profile& profile, const symbol::SymbolTable& symbols, const Filter& filter,
                       const Concurrency& concurrency) {
  Adder adder(profile, concurrency.known());
  const PassingRows passes(profile, symbols, filter);
  std::vector<uint64_t> seen(profile.threads.size());
  for (const CountedWait& each : counted_waits(profile, time_range(profile, filter), concurrency)) {
    const load::Wait& wait = profile.waits.waits[each.row];
    seen[wait.thread.index()] += each.time_ns;
    adder.add(passes(wait.thread, wait.path), wait.thread, wait.path, each);
  }
  add_other_waits(profile, passes, filter, std::move(seen), adder);
  return std::move(adder).selection();
}

}  // namespace varve::analyze
