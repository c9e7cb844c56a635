// SPDX-License-Identifier: MIT
// See mapping_index.h.
// Context: viewer.
#include "viewer/load/mapping_index.h"

#include <algorithm>
#include <queue>
#include <tuple>

namespace varve::load {
namespace {

void sort_unique(std::vector<uint64_t>& numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

MappingIndex::MappingIndex(std::span<const Mapping> mappings, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; ++i) add_rows(mappings[i], i);
  for (const Row& row : rows_) cuts_.insert(cuts_.end(), {row.begin, row.end});
  sort_unique(cuts_);
  std::vector<std::vector<uint32_t>> nodes(2 * cuts_.size());
  for (uint32_t row = 0; row < rows_.size(); ++row) place(row, nodes);
  for (const std::vector<uint32_t>& rows : nodes) nodes_.push_back(changes_of(rows));
}

void MappingIndex::add_rows(const Mapping& mapping, uint32_t number) {
  const auto add = [&](AddressRange range) {
    if (range.begin.value < range.end.value)
      rows_.push_back(
          {range.begin.value, range.end.value, mapping.load_time.count, mapping.unload_time.count, number});
  };
  for (const AddressRange& range : mapping.code) add(range);
  if (mapping.code.empty()) add(mapping.span);
}

/// Into the fewest nodes whose leaves are the range.
void MappingIndex::place(uint32_t row, std::vector<std::vector<uint32_t>>& nodes) const {
  const auto leaf = [&](uint64_t address) {
    return cuts_.size() + size_t(std::ranges::lower_bound(cuts_, address) - cuts_.begin());
  };
  size_t low = leaf(rows_[row].begin), high = leaf(rows_[row].end);
  for (; low < high; low /= 2, high /= 2) {
    if (low % 2) nodes[low++].push_back(row);
    if (high % 2) nodes[--high].push_back(row);
  }
}

/// The earlier unloading, then the higher begin, then the later load: one order, whatever that of the file.
bool MappingIndex::is_meant_before(uint32_t a, uint32_t b) const {
  const auto key = [](const Row& row) { return std::tuple(row.unload, ~row.begin, ~row.load, ~row.mapping); };
  return key(rows_[a]) < key(rows_[b]);
}

/// One pass over the times at which a row begins or ends; of the rows that hold then, the first one is meant.
std::vector<MappingIndex::Change> MappingIndex::changes_of(const std::vector<uint32_t>& rows) const {
  std::vector<uint64_t> times;
  for (uint32_t row : rows) times.insert(times.end(), {rows_[row].load, rows_[row].unload});
  sort_unique(times);
  std::vector<uint32_t> by_load = rows;
  std::ranges::sort(by_load, {}, [&](uint32_t row) { return std::tuple(rows_[row].load, row); });
  const auto later = [&](uint32_t a, uint32_t b) { return is_meant_before(b, a); };
  std::priority_queue<uint32_t, std::vector<uint32_t>, decltype(later)> held(later);
  std::vector<Change> changes;
  auto next = by_load.begin();
  for (uint64_t time : times) {
    for (; next != by_load.end() && rows_[*next].load <= time; ++next) held.push(*next);
    while (!held.empty() && rows_[held.top()].unload <= time) held.pop();
    changes.push_back({time, held.empty() ? kNone : held.top()});
  }
  return changes;
}

MappingIndex::Hit MappingIndex::find(uint64_t address, uint64_t time_ns) const {
  Hit hit;
  const auto above = std::ranges::upper_bound(cuts_, address);
  if (above == cuts_.begin()) return hit;
  uint32_t meant = kNone;
  for (size_t node = cuts_.size() + size_t(above - cuts_.begin()) - 1; node > 0; node /= 2) {
    const std::vector<Change>& changes = nodes_[node];
    const auto later = std::ranges::upper_bound(changes, time_ns, {}, &Change::from);
    if (later != changes.end()) hit.until = std::min(hit.until, later->from);
    if (later == changes.begin()) continue;
    hit.from = std::max(hit.from, std::prev(later)->from);
    const uint32_t row = std::prev(later)->row;
    if (row != kNone && (meant == kNone || is_meant_before(row, meant))) meant = row;
  }
  if (meant != kNone) hit.mapping = rows_[meant].mapping;
  return hit;
}

}  // namespace varve::load
