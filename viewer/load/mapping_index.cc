// SPDX-License-Identifier: MIT
// See mapping_index.h.
// Context: viewer.
#include "viewer/load/mapping_index.h"

#include <algorithm>
#include <tuple>

namespace varve::load {

MappingIndex::MappingIndex(std::span<const Mapping> mappings, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; ++i) {
    const Mapping& mapping = mappings[i];
    auto add = [&](AddressRange range) {
      rows_.push_back(
          {range.begin.value, range.end.value, mapping.load_time.count, mapping.unload_time.count, i});
    };
    for (const AddressRange& range : mapping.code) add(range);
    if (mapping.code.empty()) add(mapping.span);
  }
  std::ranges::sort(rows_, {}, [](const Row& row) { return std::tuple(row.begin, row.load, row.mapping); });
  uint64_t highest = 0;
  for (const Row& row : rows_) max_end_.push_back(highest = std::max(highest, row.end));
}

/// Ends the validity of an answer where a mapping at the same address begins or ends.
void MappingIndex::narrow(const Row& row, uint64_t time_ns, Hit& hit) {
  for (uint64_t edge : {row.load, row.unload}) {
    if (edge <= time_ns)
      hit.from = std::max(hit.from, edge);
    else
      hit.until = std::min(hit.until, edge);
  }
}

MappingIndex::Hit MappingIndex::find(uint64_t address, uint64_t time_ns) const {
  Hit hit;
  uint64_t earliest_unload = UINT64_MAX;
  auto above = std::ranges::upper_bound(rows_, address, {}, &Row::begin);
  for (size_t i = size_t(above - rows_.begin()); i-- > 0 && max_end_[i] > address;) {
    const Row& row = rows_[i];
    if (row.end <= address) continue;
    narrow(row, time_ns, hit);
    bool mapped = row.load <= time_ns && time_ns < row.unload;
    if (!mapped || (hit.mapping != kNone && row.unload >= earliest_unload)) continue;
    hit.mapping = row.mapping;
    earliest_unload = row.unload;
  }
  return hit;
}

}  // namespace varve::load
