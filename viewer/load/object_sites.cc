// SPDX-License-Identifier: MIT
// See object_sites.h.
// Context: viewer.
#include "viewer/load/object_sites.h"

#include <algorithm>
#include <tuple>

#include "viewer/load/mapping_index.h"

namespace varve::load {
namespace {

struct Met {
  ProcessId process;
  uint64_t address = 0;
  uint64_t time_ns = 0;
  auto key() const { return std::tuple(process, address); }
};

/// Each object in memory once, by process and address.
std::vector<Met> objects_in_memory(const Profile& profile) {
  std::vector<Met> objects;
  for (const Wait& wait : profile.waits.waits)
    if (format::is_in_memory(wait.kind))
      objects.push_back({profile.threads[wait.thread.index()].process, wait.object, wait.end_ns});
  std::ranges::sort(objects, {},
                    [](const Met& met) { return std::tuple(met.process, met.address, met.time_ns); });
  const auto same = [](const Met& a, const Met& b) { return a.key() == b.key(); };
  objects.erase(std::unique(objects.begin(), objects.end(), same), objects.end());
  return objects;
}

/// The mappings of each process with all of their addresses, data included; rows keep their numbers.
std::vector<Mapping> whole_mappings(const Profile& profile) {
  std::vector<Mapping> whole;
  for (const Mapping& mapping : profile.mappings) {
    Mapping& row = whole.emplace_back();
    row.process = mapping.process;
    row.span = mapping.span;
    row.load_time = mapping.load_time;
    row.unload_time = mapping.unload_time;
  }
  return whole;
}

/// Mappings stand by process.
std::pair<uint32_t, uint32_t> rows_of(const std::vector<Mapping>& mappings, ProcessId process) {
  const auto first = std::ranges::lower_bound(mappings, process, {}, &Mapping::process);
  const auto end = std::ranges::upper_bound(mappings, process, {}, &Mapping::process);
  return {uint32_t(first - mappings.begin()), uint32_t(end - mappings.begin())};
}

}  // namespace

void find_object_sites(Profile& profile, PathTree& tree) {
  const std::vector<Met> objects = objects_in_memory(profile);
  if (objects.empty()) return;
  const std::vector<Mapping> whole = whole_mappings(profile);
  for (auto at = objects.begin(); at != objects.end();) {
    const ProcessId process = at->process;
    const auto [first, end] = rows_of(whole, process);
    const MappingIndex index(whole, first, end);
    for (; at != objects.end() && at->process == process; ++at) {
      const auto hit = index.find(at->address, at->time_ns);
      if (hit.mapping == MappingIndex::kNone) continue;
      const Mapping& mapping = profile.mappings[hit.mapping];
      profile.waits.places.push_back(
          {process, at->address, tree.site(Site{mapping.module, {at->address - mapping.bias}})});
    }
  }
}

}  // namespace varve::load
