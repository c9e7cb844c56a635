// SPDX-License-Identifier: MIT
// The rows of a list of threads, processes or programs: the largest, then sums of the others. Context:
// viewer.
#pragma once

#include <string>
#include <vector>

#include "viewer/symbol/special_sites.h"
#include "viewer/view/rows.h"

namespace varve::view {

/// Adds rows that `has` by `add_row(index)`, in the order that the request asks for, then sums by
/// `add_sum(kind, label, metrics)`. The last row of `metrics`, behind those of `has`, is time of none of
/// them.
template <typename AddRow, typename AddSum>
void fill_rows(const analyze::MetricTable& metrics, const std::vector<bool>& has,
               const analyze::Selection& selection, const Request& request, const AddRow& add_row,
               const AddSum& add_sum) {
  const uint64_t whole_ns = whole(selection)[analyze::kCpu];
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < has.size(); ++i)
    if (has[i]) order.push_back(i);
  sort_rows(order, metrics, nullptr, whole_ns, request);
  const CutRows cut = cut_rows(metrics, order, whole_ns, request);
  for (size_t i = 0; i < cut.kept; ++i) add_row(order[i]);
  if (cut.below > 0) add_sum(RowKind::kRest, cut.label, cut.rest);
  const auto nobodys = metrics.row(has.size());
  if (nobodys[analyze::kCpu] > 0 || nobodys[analyze::kSamples] > 0)
    add_sum(RowKind::kSpecial, std::string(symbol::special_name(load::SpecialSite::kNotSampled)),
            std::vector<uint64_t>(nobodys.begin(), nobodys.end()));
  const std::vector<uint64_t>& out = selection.filtered_out;
  if (out[analyze::kCpu] > 0 || out[analyze::kSamples] > 0)
    add_sum(RowKind::kFilteredOut, std::string(kFilteredOut), out);
}

/// Threads added up by the row that `of_process` has for their process; behind the `rows` the time of no
/// thread.
inline analyze::MetricTable add_up_threads(const load::Profile& profile,
                                           const analyze::MetricTable& by_thread,
                                           const std::vector<uint32_t>& of_process, size_t rows) {
  analyze::MetricTable sums(rows + 1, by_thread.width());
  for (size_t i = 0; i < profile.threads.size(); ++i)
    sums.add(of_process[profile.threads[i].process.index()], by_thread, i);
  sums.add(rows, by_thread, profile.threads.size());
  return sums;
}

/// What has a row: everything, but if something is cut only what is left.
inline std::vector<bool> rows_left(const analyze::MetricTable& metrics, size_t rows, const Request& request) {
  std::vector<bool> has(rows);
  for (size_t i = 0; i < rows; ++i) has[i] = !request.cuts() || !metrics.zero(i);
  return has;
}

}  // namespace varve::view
