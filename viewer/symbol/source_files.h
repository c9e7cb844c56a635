// SPDX-License-Identifier: MIT
// The source files that debug information names, as they are on this machine. What is read may be another
// version than what was compiled; its age can tell. Context: viewer, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "viewer/load/profile.h"

namespace varve::symbol {

class Debuginfod;

struct SourceOptions {
  /// FROM, TO: a path that is FROM, or below it, is looked for at TO instead. The first that fits counts.
  std::vector<std::pair<std::string, std::string>> paths;
  std::string directory;  // relative paths are looked for here too, after the current directory
};

struct SourceText {
  bool found = false;
  std::string path;  // where it was read
  std::vector<std::string> lines;
  Nanos modified;  // since the epoch
};

/// `recorded`: as in the debug information. `server`, which may be null, is asked where no file is found.
SourceText read_source(std::string_view recorded, const SourceOptions& options,
                       std::span<const uint8_t> build_id, Debuginfod* server);

/// After `paths`: where a file is looked for.
std::string mapped_path(std::string_view recorded, const SourceOptions& options);

/// When the module was built, as far as its file tells: its last change, or where it is gone the begin of the
/// run.
Nanos built_before(const load::Profile& profile, ModuleId id, const std::string& sysroot);

}  // namespace varve::symbol
