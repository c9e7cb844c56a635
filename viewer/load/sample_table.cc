// SPDX-License-Identifier: MIT
// See sample_table.h. Whole runs are moved, column by column, so that at most one column exists twice.
// Context: viewer, one thread.
#include "viewer/load/sample_table.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace varve::load {

void SampleTable::close_run() {
  if (runs_.empty()) return;
  Run& run = runs_.back();
  run.count = time_.size() - run.first;
  if (run.count == 0)
    runs_.pop_back();
  else
    run.first_time_ns = time_[run.first];
}

void SampleTable::begin_run(ThreadId thread) {
  close_run();
  runs_.push_back({thread, 0, time_.size(), 0});
}

void SampleTable::adopt(DecodedSamples samples) {
  size_t first = 0;
  for (const format::DecodedRun& run : samples.runs) {
    runs_.push_back({{run.thread}, samples.time_ns[first], first, run.samples});
    first += run.samples;
  }
  time_ = std::move(samples.time_ns);
  weight_ = std::move(samples.weight_ns);
  paths_ = std::move(samples.leaf);
}

void SampleTable::add_ledger(const std::vector<LedgerRow>& rows) {
  close_run();
  sample_count_ = time_.size();
  for (const LedgerRow& row : rows) {
    runs_.push_back({row.thread, row.time.count, time_.size(), 1});
    add(row.time.count, row.weight.count, row.path);
  }
}

void SampleTable::sort_runs() {
  std::ranges::stable_sort(runs_, {},
                           [](const Run& run) { return std::tuple(run.thread, run.first_time_ns); });
}

template <typename Column>
Column SampleTable::gather(Column& column) const {
  Column ordered;
  ordered.reserve(column.size());
  for (const Run& run : runs_) {
    auto first = column.begin() + ptrdiff_t(run.first);
    ordered.insert(ordered.end(), first, first + ptrdiff_t(run.count));
  }
  Column().swap(column);
  return ordered;
}

/// Only where runs of one thread overlap, which the agent does not write, or a pause lies within one.
void SampleTable::sort_by_time(Samples& samples, size_t first, size_t end) {
  std::vector<size_t> order(end - first);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t row) { return samples.time_ns[first + row]; });
  auto apply = [&](auto& column) {
    const auto begin = column.begin() + ptrdiff_t(first);
    const std::vector copy(begin, begin + ptrdiff_t(order.size()));
    for (size_t i = 0; i < order.size(); ++i) begin[ptrdiff_t(i)] = copy[order[i]];
  };
  apply(samples.weight_ns);
  apply(samples.path);
  apply(samples.ticks);
  apply(samples.time_ns);
}

Samples SampleTable::finish() {
  sort_runs();
  Samples samples;
  std::vector<uint8_t> ticks(time_.size(), 1);
  std::fill(ticks.begin() + ptrdiff_t(sample_count_), ticks.end(), uint8_t(0));
  samples.ticks = gather(ticks);
  samples.time_ns = gather(time_);
  samples.weight_ns = gather(weight_);
  samples.path = gather(paths_);
  samples.thread.reserve(samples.size());
  for (const Run& run : runs_) samples.thread.insert(samples.thread.end(), run.count, run.thread);
  for (size_t first = 0; first < samples.size();) {
    size_t end = first + 1;
    bool sorted = true;
    for (; end < samples.size() && samples.thread[end] == samples.thread[first]; ++end)
      sorted &= samples.time_ns[end - 1] <= samples.time_ns[end];
    if (!sorted) sort_by_time(samples, first, end);
    first = end;
  }
  return samples;
}

}  // namespace varve::load
