// SPDX-License-Identifier: MIT
// See shown_part.h.
// Context: viewer.
#include "viewer/view/shown_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "viewer/load/thread_count.h"
#include "viewer/view/rows.h"

namespace varve::view {
namespace {

/// A number is used again by each image of a process.
class Pids {
 public:
  void add(const load::Process& process) { pids_.emplace(process.host, process.pid); }
  uint64_t count() const { return pids_.size(); }

 private:
  std::set<std::pair<std::string_view, int32_t>> pids_;
};

std::vector<bool> threads_with_time(const load::Profile& profile, const analyze::Selection& selection) {
  std::vector<bool> threads(profile.threads.size());
  for (size_t i = 0; i < threads.size(); ++i) threads[i] = !selection.by_thread.zero(i);
  return threads;
}

Nanos passing_time(const load::Profile& profile, const analyze::Filter& filter) {
  const analyze::TimeRange range = analyze::time_range(profile, filter);
  return {range.end == UINT64_MAX ? 0 : range.length()};
}

}  // namespace

ShownPart shown_part(const load::Profile& profile, const Request& request,
                     const analyze::Selection& selection) {
  const std::vector<bool> threads = threads_with_time(profile, selection);
  return {passing_time(profile, request.filter),
          {selection.kept[analyze::kCpu]},
          selection.kept[analyze::kSamples],
          load::count_threads(profile, threads),
          count_processes(profile, threads)};
}

uint64_t count_processes_of(const load::Profile& profile, const std::vector<bool>& images) {
  Pids pids;
  for (size_t i = 0; i < images.size(); ++i)
    if (images[i]) pids.add(profile.processes[i]);
  return pids.count();
}

uint64_t count_processes(const load::Profile& profile, const std::vector<bool>& threads) {
  std::vector<bool> images(profile.processes.size());
  for (size_t i = 0; i < threads.size(); ++i)
    if (threads[i]) images[profile.threads[i].process.index()] = true;
  return count_processes_of(profile, images);
}

uint64_t count_processes(const load::Profile& profile) {
  return count_processes_of(profile, std::vector<bool>(profile.processes.size(), true));
}

std::string more_rows_words(uint64_t rows, uint64_t things, std::string_view one, std::string_view many) {
  if (rows <= things) return "";
  return fmt::format("{} rows of {}: what went on as another program, by exec, has a row for each.", rows,
                     plural(things, one, many));
}

std::string more_rows_words(const load::Profile& profile, const std::vector<bool>& threads) {
  return more_rows_words(uint64_t(std::ranges::count(threads, true)), load::count_threads(profile, threads),
                         "thread", "threads");
}

}  // namespace varve::view
