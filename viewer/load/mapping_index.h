// SPDX-License-Identifier: MIT
// Which mapping of a process image an address meant at a time: modules come and go, and another may take the
// place of one that was unloaded. Not the reader of module records: agent_file.h is. Context: viewer, any
// thread once built.
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
  static void narrow(const Row& row, uint64_t time_ns, Hit& hit);

  std::vector<Row> rows_;          // by begin
  std::vector<uint64_t> max_end_;  // of rows [0, i]: where a search downwards may stop
};

}  // namespace varve::load
