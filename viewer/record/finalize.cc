// SPDX-License-Identifier: MIT
// Loading, resolving, storing. See finalize.h.
// Context: viewer.
#include "viewer/record/finalize.h"

#include <algorithm>

#include "viewer/load/load.h"

namespace varve::record {
namespace {

Finalized counts_of(const load::Profile& profile) {
  Finalized result;
  result.loaded = true;
  result.samples = profile.sample_count;
  result.cpu = profile.kernel_cpu;
  result.threads = profile.threads.size();
  result.agent_files = profile.processes.size();
  result.samples_lost = profile.lost_samples;
  std::vector<int32_t> pids;
  for (const load::Process& process : profile.processes) {
    pids.push_back(process.pid);
    result.threads_unsampled += process.counter(format::Counter::kThreadsUnsampled);
    result.no_space |= process.counter(format::Counter::kFileGrowFailed) != 0;
    if (uint64_t error = process.counter(format::Counter::kLastErrno)) result.last_errno = int(error);
  }
  std::sort(pids.begin(), pids.end());
  result.processes = size_t(std::unique(pids.begin(), pids.end()) - pids.begin());
  return result;
}

}  // namespace

Finalized finalize(const std::string& directory, bool resolve, bool progress) {
  auto profile = load::load(directory);
  if (!profile) {
    Finalized result;
    result.trouble = profile.error();
    return result;
  }
  (void)resolve, (void)progress;
  return counts_of(*profile);
}

}  // namespace varve::record
