// SPDX-License-Identifier: MIT
// See lifetimes.h.
// Context: viewer.
#include "viewer/load/lifetimes.h"

#include <algorithm>
#include <map>

namespace varve::load {
namespace {

using Image = std::pair<int32_t, uint32_t>;  // pid, number

/// When each image ended by an exec.
std::map<Image, Nanos> exec_times(const Profile& profile) {
  std::map<Image, Nanos> times;
  for (const Process& process : profile.processes)
    if (process.end == format::ImageEnd::kExec)
      times.try_emplace({process.pid, process.image}, process.end_time);
  return times;
}

/// A first thread goes on from the image before; the clock of any other began with it.
void widen_start(Thread& thread, const Process& process, const std::map<Image, Nanos>& execs) {
  const auto before = execs.find({process.pid, process.image - 1});
  const Nanos begin = thread.is_main && before != execs.end()
                          ? before->second
                          : saturating_sub(thread.end_time, thread.end_cpu);
  if (begin > Nanos{}) thread.start_time = std::min(thread.start_time, begin);
}

}  // namespace

void complete_lifetimes(Profile& profile, const std::vector<ThreadFacts>& facts) {
  const std::map<Image, Nanos> execs = exec_times(profile);
  for (uint32_t i = 0; i < profile.threads.size(); ++i) {
    Thread& thread = profile.threads[i];
    Process& process = profile.processes[thread.process.index()];
    const bool ended = thread.end_time > Nanos{};
    if (ended && i < facts.size()) thread.end_time = std::max(thread.end_time, facts[i].last_sample);
    if (ended && thread.end_cpu > Nanos{} && !thread.track.valid()) widen_start(thread, process, execs);
    if (thread.start_time > Nanos{}) process.start_time = std::min(process.start_time, thread.start_time);
    if (ended && process.end_time > Nanos{}) process.end_time = std::max(process.end_time, thread.end_time);
  }
}

}  // namespace varve::load
