// SPDX-License-Identifier: MIT
// MappingIndex against a search of all mappings, and with one place used again and again. Context: tests.
#include "viewer/load/mapping_index.h"

#include <criterion/criterion.h>

#include <random>

using namespace varve;
using load::MappingIndex;

namespace {

load::Mapping mapping(uint64_t begin, uint64_t end, uint64_t load_ns, uint64_t unload_ns) {
  load::Mapping made;
  made.code = {{{begin}, {end}}};
  made.load_time = {load_ns};
  made.unload_time = {unload_ns};
  return made;
}

bool holds(const load::Mapping& mapping, uint64_t address, uint64_t time_ns) {
  const load::AddressRange& code = mapping.code.front();
  return code.begin.value <= address && address < code.end.value && mapping.load_time.count <= time_ns &&
         time_ns < mapping.unload_time.count;
}

/// The unloading of the mapping that is meant; 0: none.
uint64_t expected(const std::vector<load::Mapping>& mappings, uint64_t address, uint64_t time_ns) {
  uint64_t earliest = 0;
  for (const load::Mapping& each : mappings) {
    if (!holds(each, address, time_ns)) continue;
    if (earliest == 0 || each.unload_time.count < earliest) earliest = each.unload_time.count;
  }
  return earliest;
}

}  // namespace

Test(mapping_index, agrees_with_a_search_of_all) {
  std::mt19937_64 random(7);
  const auto below = [&](uint64_t most) { return random() % most; };
  for (int round = 0; round < 200; ++round) {
    std::vector<load::Mapping> mappings;
    for (uint64_t i = below(12); i > 0; --i) {
      const uint64_t begin = below(40), load_ns = below(40);
      mappings.push_back(mapping(begin, begin + below(20), load_ns, load_ns + below(20)));
    }
    const MappingIndex index(mappings, 0, uint32_t(mappings.size()));
    for (uint64_t address = 0; address < 64; ++address) {
      for (uint64_t time = 0; time < 64; ++time) {
        const MappingIndex::Hit hit = index.find(address, time);
        const uint64_t meant = expected(mappings, address, time);
        cr_assert_eq(hit.mapping == MappingIndex::kNone ? 0 : mappings[hit.mapping].unload_time.count, meant);
        cr_assert(hit.mapping == MappingIndex::kNone || holds(mappings[hit.mapping], address, time));
        cr_assert(hit.from <= time && time < hit.until);
        for (uint64_t other = hit.from; other < std::min<uint64_t>(hit.until, 64); ++other)
          cr_assert_eq(index.find(address, other).mapping, hit.mapping, "the answer holds for its time");
      }
    }
  }
}

Test(mapping_index, a_place_used_a_hundred_thousand_times_costs_a_search) {
  constexpr uint64_t kTimes = 100'000;
  std::vector<load::Mapping> mappings;
  for (uint64_t i = 0; i < kTimes; ++i) mappings.push_back(mapping(0x1000, 0x2000, 10 * i, 10 * i + 10));
  const MappingIndex index(mappings, 0, kTimes);
  for (uint64_t i = 0; i < kTimes; ++i) {  // 10^10 steps if each looked at all
    const MappingIndex::Hit hit = index.find(0x1800, 10 * i + 5);
    cr_assert(hit.mapping == i && hit.from == 10 * i && hit.until == 10 * i + 10);
  }
}
