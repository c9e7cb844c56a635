// SPDX-License-Identifier: MIT
// See descriptors.h.
// Context: viewer.
#include "viewer/load/descriptors.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <tuple>

namespace varve::load {
namespace {

using format::ObjectKind;

constexpr std::string_view kPipe = "pipe:[";

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

/// A pipe has one number for all processes, so its name has, too.
void name_written_pipes(Waits& waits) {
  std::map<uint64_t, uint32_t> names;  // by inode
  for (uint32_t i = 0; i < waits.names.size(); ++i) {
    std::string_view name = waits.names[i];
    uint64_t inode = 0;
    if (!name.starts_with(kPipe)) continue;
    name.remove_prefix(kPipe.size());
    if (std::from_chars(name.data(), name.data() + name.size(), inode).ec == std::errc()) names[inode] = i;
  }
  for (Release& release : waits.releases) {
    if (release.kind != ObjectKind::kDescriptor) continue;
    const auto known = names.find(release.object);
    release.name = known == names.end() ? 0 : known->second;
  }
}

/// Of an image of a process: it was begun with them.
void find_outputs(Waits& waits, const std::vector<Named>& all) {
  for (const Named& named : all)
    if ((named.fd == STDOUT_FILENO || named.fd == STDERR_FILENO) &&
        waits.names[named.name].starts_with(kPipe))
      waits.outputs.push_back({named.name, {named.process}});
  std::ranges::sort(waits.outputs);
  waits.outputs.erase(std::unique(waits.outputs.begin(), waits.outputs.end()), waits.outputs.end());
}

}  // namespace

void name_descriptors(Profile& profile, const std::vector<AgentFile>& agents) {
  const std::vector<Named> all = all_names(agents, profile.waits.names);
  for (Wait& wait : profile.waits.waits) {
    if (wait.kind != ObjectKind::kPoll && wait.kind != ObjectKind::kDescriptor) continue;
    const uint32_t process = profile.threads[wait.thread.index()].process.value;
    const auto fd = int32_t(wait.object);
    const auto after = std::ranges::upper_bound(all, std::tuple(process, fd, wait.end_ns), {}, &Named::key);
    if (after == all.begin()) continue;
    const Named& last = *(after - 1);
    if (last.process == process && last.fd == fd) wait.name = last.name;
  }
  name_written_pipes(profile.waits);
  find_outputs(profile.waits, all);
}

}  // namespace varve::load
