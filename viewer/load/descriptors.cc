// SPDX-License-Identifier: MIT
// See descriptors.h.
// Context: viewer.
#include "viewer/load/descriptors.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace varve::load {
namespace {

struct Named {
  uint32_t process;
  int32_t fd;
  uint64_t time_ns;
  uint32_t name;

  auto key() const { return std::tuple(process, fd, time_ns); }
};

/// All that the agents noted, by process, number and time.
std::vector<Named> all_names(const std::vector<AgentFile>& agents, std::vector<std::string>& names) {
  std::map<std::string, uint32_t> known;
  std::vector<Named> all;
  for (uint32_t process = 0; process < agents.size(); ++process)
    for (const AgentDescriptor& each : agents[process].descriptors) {
      const auto [at, fresh] = known.try_emplace(each.name, uint32_t(names.size()));
      if (fresh) names.push_back(each.name);
      all.push_back({process, each.fd, each.time.count, at->second});
    }
  std::ranges::stable_sort(all, {}, &Named::key);
  return all;
}

}  // namespace

void name_descriptors(Profile& profile, const std::vector<AgentFile>& agents) {
  const std::vector<Named> all = all_names(agents, profile.waits.names);
  for (Wait& wait : profile.waits.waits) {
    if (!format::is_descriptor(wait.kind)) continue;
    const uint32_t process = profile.threads[wait.thread.index()].process.value;
    const auto fd = int32_t(wait.object);
    const auto after = std::ranges::upper_bound(all, std::tuple(process, fd, wait.end_ns), {}, &Named::key);
    if (after == all.begin()) continue;
    const Named& last = *(after - 1);
    if (last.process == process && last.fd == fd) wait.name = last.name;
  }
}

}  // namespace varve::load
