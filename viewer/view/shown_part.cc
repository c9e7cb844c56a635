// SPDX-License-Identifier: MIT
// See shown_part.h.
// Context: viewer.
#include "viewer/view/shown_part.h"
#include "viewer/load/thread_count.h"

#include <set>

#include "viewer/load/load.h"

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

uint64_t count_processes(const load::Profile& profile, const std::vector<bool>& threads) {
  Pids pids;
  for (size_t i = 0; i < threads.size(); ++i)
    if (threads[i]) pids.add(profile.processes[profile.threads[i].process.index()]);
  return pids.count();
}

uint64_t count_processes(const load::Profile& profile) {
  Pids pids;
  for (const load::Process& process : profile.processes) pids.add(process);
  return pids.count();
}

}  // namespace varve::view
