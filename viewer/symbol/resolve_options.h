// SPDX-License-Identifier: MIT
// What the user may decide about resolving, and how its progress is told.
// Context: viewer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/units.h"

namespace varve::symbol {

struct ResolveOptions {
  std::vector<std::string> debug_directories{"/usr/lib/debug"};
  std::string sysroot;      // prefix of every module's path; for a profile of another machine
  bool debuginfod = false;  // ask the servers of DEBUGINFOD_URLS
  Nanos debuginfod_budget{60 * kNanosPerSecond.count};  // for all modules together
  bool lines =
      true;  // false: names by symbol tables alone, which debug information of any size does not slow
  unsigned threads = 0;  // 0: as many as processors, at most 8

  bool operator==(const ResolveOptions&) const = default;
  /// Whether they name files or servers that the recorder did not look at.
  bool look_further() const {
    return debuginfod || !sysroot.empty() || debug_directories != ResolveOptions().debug_directories;
  }
};

struct ResolveProgress {
  size_t done = 0;  // code addresses
  size_t total = 0;
  std::string_view module;  // the one just finished
};

/// Called by the thread that called resolve(): at every change, and ten times a second while there is none.
using ProgressCallback = std::function<void(const ResolveProgress&)>;

}  // namespace varve::symbol
