// SPDX-License-Identifier: MIT
// See start_sites.h.
// Context: viewer.
#include "viewer/load/start_sites.h"

#include <optional>

#include "viewer/load/mapping_index.h"

namespace varve::load {

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
}

}  // namespace varve::load
