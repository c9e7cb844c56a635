// SPDX-License-Identifier: MIT
// Which mapping of a process image an address meant at a time: modules come and go, and another may take the
// place of one that was unloaded. A segment tree over addresses: a range of code stands in few of its nodes,
// and a node knows its mapping at each time, so a search takes two logarithms, however often a place was used
// again. Not the reader of module records: agent_file.h is. Context: viewer, any thread once built.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "viewer/load/profile.h"

namespace varve::load {

class MappingIndex {
 public:
  /// Over mappings [first, end) of the profile, all of one process image.
  MappingIndex(std::span<const Mapping> mappings, uint32_t first, uint32_t end);

  static constexpr uint32_t kNone = UINT32_MAX;

  /// The answer for all times from `from` until before `until`.
  struct Hit {
    uint32_t mapping = kNone;  // row of the mappings; kNone: no file was there
    uint64_t from = 0, until = UINT64_MAX;
  };

  /// Where several mappings claim the address at that time, the one with the earliest unloading is meant.
  Hit find(uint64_t address, uint64_t time_ns) const;

 private:
  struct Row {
    uint64_t begin, end;    // addresses
    uint64_t load, unload;  // ns
    uint32_t mapping;
  };
  /// What a node's ranges mean from a time on: a row, or kNone.
  struct Change {
    uint64_t from;
    uint32_t row;
  };

  void add_rows(const Mapping& mapping, uint32_t number);
  void place(uint32_t row, std::vector<std::vector<uint32_t>>& nodes) const;
  std::vector<Change> changes_of(const std::vector<uint32_t>& rows) const;
  bool is_meant_before(uint32_t a, uint32_t b) const;

  std::vector<Row> rows_;
  std::vector<uint64_t> cuts_;  // ascending: between two of them all addresses mean the same
  /// Leaf i, for the addresses from cuts_[i] on, is node cuts_.size() + i; the parent of a node is its half.
  std::vector<std::vector<Change>> nodes_;
};

}  // namespace varve::load
