// SPDX-License-Identifier: MIT
// See reaped.h.
// Context: viewer.
#include "viewer/load/reaped.h"

#include <algorithm>
#include <map>

namespace varve::load {

void add_reaped(Profile& profile, const std::vector<format::ProcessExitRecord>& exits) {
  std::map<std::pair<int32_t, uint64_t>, ProcessId> begun;  // by pid and time
  for (uint32_t i = 0; i < profile.processes.size(); ++i)
    begun[{profile.processes[i].pid, profile.processes[i].start_time.count}] = {i};
  for (const format::ProcessExitRecord& exit : exits) {
    if (exit.status == format::kStatusRunning) continue;
    auto next = begun.upper_bound({exit.pid, exit.time_ns});
    if (next == begun.begin()) continue;
    const auto& [key, id] = *std::prev(next);
    Process& process = profile.processes[id.index()];
    // Who tells of a pid twice means two processes, of which one had no agent.
    if (key.first != exit.pid || process.reaped_time != Nanos{}) continue;
    process.reaped_time = {exit.time_ns};
    process.reaped_cpu = Nanos{std::min<uint64_t>(exit.user_ns, INT64_MAX)} +
                         Nanos{std::min<uint64_t>(exit.system_ns, INT64_MAX)};
  }
}

}  // namespace varve::load
