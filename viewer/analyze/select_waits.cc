// SPDX-License-Identifier: MIT
// See select_waits.h.
// Context: viewer.
#include "viewer/analyze/select_waits.h"

#include <array>
#include <span>

#include "viewer/analyze/fitted_waits.h"

namespace varve::analyze {
namespace {

/// A row of what is selected.
struct Waited {
  bool pass;
  ThreadId thread;
  PathId path;
  CountedWait wait;
};

/// What no hook saw of each thread's Wait.
void add_other_waits(const PassingRows& passes, const std::vector<OtherWaits>& others,
                     std::vector<Waited>& rows) {
  for (uint32_t i = 0; i < others.size(); ++i)
    if (others[i].time_ns)
      rows.push_back({passes.other_waits({i}), {i}, {0}, {0, others[i].time_ns, 0, others[i].bands}});
}

PathSet waited_paths(const load::Profile& profile, const std::vector<Waited>& rows) {
  PathSet with(profile.paths.size());
  for (const Waited& row : rows)
    if (row.pass) with.insert(row.path.index());
  with.close();
  return with;
}

Selection add_up(const load::Profile& profile, const std::vector<Waited>& rows, size_t width) {
  Selection selection;
  selection.by_path = PathTimes(waited_paths(profile, rows), width);
  selection.by_thread = MetricTable(profile.threads.size() + 1, width);
  selection.kept.resize(width);
  selection.filtered_out.resize(width);
  constexpr std::array<Metric, kBands> kColumns = {kIdleWait, kPoor, kOk, kIdeal, kOver};
  for (const Waited& each : rows) {
    std::array<uint64_t, kWaitMetricCount> row = {each.wait.time_ns, each.wait.count};
    for (size_t band = 0; band < kBands; ++band) row[kColumns[band]] = each.wait.bands[band];
    const std::span<const uint64_t> numbers = std::span(row).first(width);
    std::vector<uint64_t>& total = each.pass ? selection.kept : selection.filtered_out;
    for (size_t k = 0; k < width; ++k) total[k] += numbers[k];
    if (!each.pass) continue;
    selection.by_path.add(each.path.index(), numbers);
    selection.by_thread.add(each.thread.index(), numbers);
  }
  return selection;
}

}  // namespace

Selection select_waits(const load::Profile& profile, const symbol::SymbolTable& symbols, const Filter& filter,
                       const Concurrency& concurrency) {
  const PassingRows passes(profile, symbols, filter);
  const FittedWaits fitted = fitted_waits(profile, time_range(profile, filter), concurrency);
  std::vector<Waited> rows;
  for (const CountedWait& each : fitted.counted) {
    const load::Wait& wait = profile.waits.waits[each.row];
    rows.push_back({passes.wait(each.row), wait.thread, wait.path, each});
  }
  add_other_waits(passes, fitted.others, rows);
  return add_up(profile, rows, concurrency.banded ? kWaitMetricCount : kMetricCount);
}

}  // namespace varve::analyze
