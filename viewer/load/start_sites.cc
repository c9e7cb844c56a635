// SPDX-License-Identifier: MIT
// See start_sites.h.
// Context: viewer.
#include "viewer/load/start_sites.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "viewer/load/mapping_index.h"

namespace varve::load {
namespace {

/// What a whole stack has above the routine; the empty path where none of its outermost frames is in that.
PathId above_routine(const Profile& profile, PathId leaf, const Site& routine) {
  constexpr size_t kOutermost = 4;          // clone3, start_thread, perhaps one of a language's library
  constexpr uint64_t kLongest = 64 * 1024;  // bytes of code
  std::array<PathId, kOutermost> last;
  size_t depth = 0;
  for (PathId path = leaf; path != PathTree::root(); path = profile.paths[path.index()].parent)
    last[depth++ % kOutermost] = path;
  for (size_t i = 1; i <= std::min(depth, kOutermost); ++i) {
    const Path& path = profile.paths[last[(depth - i) % kOutermost].index()];
    const Site& site = profile.sites[path.site.index()];
    if (site.special()) break;
    if (site.module == routine.module && site.vaddr.value - routine.vaddr.value < kLongest)
      return path.parent;
  }
  return PathTree::root();
}

/// By the first samples of some threads of each routine.
void find_above(const Profile& profile, std::vector<ThreadFacts>& facts) {
  constexpr uint32_t kMostTries = 16;
  struct Known {
    PathId above = PathTree::root();
    uint32_t tries = 0;
  };
  std::map<SiteId, Known> known;
  for (const ThreadFacts& each : facts) {
    if (!each.start_routine.valid() || !each.first_path.valid()) continue;
    Known& routine = known[each.start_routine];
    if (routine.above == PathTree::root() && routine.tries++ < kMostTries)
      routine.above = above_routine(profile, each.first_path, profile.sites[each.start_routine.index()]);
  }
  for (ThreadFacts& each : facts)
    if (const auto at = known.find(each.start_routine); at != known.end())
      each.above_start = at->second.above;
}

}  // namespace

void find_start_sites(const Profile& profile, std::span<const SampleSource> sources,
                      std::span<const uint64_t> routines, PathTree& tree, std::vector<ThreadFacts>& facts) {
  ProcessId indexed;
  std::optional<MappingIndex> index;
  for (size_t i = 0; i < routines.size(); ++i) {
    if (routines[i] == 0) continue;
    const Thread& thread = profile.threads[i];
    if (indexed != thread.process) {
      const SampleSource& source = sources[thread.process.index()];
      index.emplace(profile.mappings, source.first_mapping, source.end_mapping);
      indexed = thread.process;
    }
    auto hit = index->find(routines[i], thread.start_time.count);
    if (hit.mapping == MappingIndex::kNone) continue;
    const Mapping& mapping = profile.mappings[hit.mapping];
    facts[i].start_routine = tree.site(Site{mapping.module, {routines[i] - mapping.bias}});
  }
  find_above(profile, facts);
}

}  // namespace varve::load
