// SPDX-License-Identifier: MIT
// PerfMap: names of code that a runtime made at run time, from the text file that JITs write for profilers
// (perf-PID.map: one "START SIZE name" a line, both numbers hexadecimal).
// Not finding the file of a process: that is jit_names.h.
// Context: viewer, any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "common/units.h"

namespace varve::symbol {

struct JitSymbol {
  uint64_t start = 0;
  uint64_t end = 0;
  std::string_view name;
};

/// What a JIT's name says: "JS:*parse /srv/app.js:12:5" is a function of a file and a line.
struct JitName {
  std::string function;
  std::string file;
  uint32_t line = 0;
};

class PerfMap {
 public:
  PerfMap() = default;
  /// Lines that are not of the form are passed over. Where lines overlap, the later one wins: code memory is
  /// reused.
  explicit PerfMap(std::string text);
  PerfMap(PerfMap&&) = default;
  PerfMap& operator=(PerfMap&&) = default;
  PerfMap(const PerfMap&) = delete;  // the names are views into the text
  PerfMap& operator=(const PerfMap&) = delete;

  const JitSymbol* find(Address address) const;
  size_t size() const { return symbols_.size(); }

 private:
  std::vector<char> text_;
  std::vector<JitSymbol> symbols_;  // sorted, disjoint
};

/// Only a regular file, reached by no link, owned by root or by `owner`, of at most 1 GB, is read: /tmp is
/// everybody's. Errors are sentences without a full stop.
tl::expected<PerfMap, std::string> read_perf_map(const std::string& path, uid_t owner);

JitName parse_jit_name(std::string_view name);

}  // namespace varve::symbol
