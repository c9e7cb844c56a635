// SPDX-License-Identifier: MIT
// See thread_count.h.
// Context: viewer.
#include "viewer/load/thread_count.h"

#include <unordered_map>

namespace varve::load {

size_t count_threads(const Profile& profile) {
  return count_threads(profile, std::vector<bool>(profile.threads.size(), true));
}

size_t count_threads(const Profile& profile, const std::vector<bool>& pass) {
  // Numbers are used again within a run, so rows are counted, but for the first thread of an image that goes
  // on where an exec ended the one before, if it was counted there.
  std::vector<bool> counted(profile.processes.size());  // the first thread, in this image or before
  for (size_t i = 0; i < pass.size(); ++i)
    if (pass[i] && profile.threads[i].is_main) counted[profile.threads[i].process.index()] = true;
  std::vector<bool> goes_on(profile.processes.size());
  std::unordered_map<int32_t, size_t> last;  // image, by pid
  for (size_t i = 0; i < profile.processes.size(); ++i) {
    auto [before, first] = last.try_emplace(profile.processes[i].pid, i);
    const bool by_exec = !first && profile.processes[before->second].end == format::ImageEnd::kExec;
    goes_on[i] = by_exec && counted[before->second];
    if (goes_on[i]) counted[i] = true;
    before->second = i;
  }
  size_t count = 0;
  for (size_t i = 0; i < pass.size(); ++i)
    count += pass[i] && !(profile.threads[i].is_main && goes_on[profile.threads[i].process.index()]);
  return count;
}

}  // namespace varve::load
