// SPDX-License-Identifier: MIT
// LookPaths: stacks that the observer saw become paths of the profile. Context: viewer, one thread.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "viewer/load/path_tree.h"
#include "viewer/load/profile.h"
#include "viewer/load/wait_looks.h"

namespace varve::load {

/// A build ID and no path, or the path of a file without a build ID.
using FileKey = std::pair<std::vector<uint8_t>, std::string>;

class LookPaths {
 public:
  /// All outlive it.
  LookPaths(Profile& profile, PathTree& tree, const WaitLooks& looks);

  /// The path of the stack of a thread of `process`, made if it is new.
  PathId path_of(const WaitLook& look, ProcessId process);

 private:
  SiteId site_of(const WaitLooks::Frame& frame, ProcessId process);
  ModuleId module_of(uint32_t number);

  Profile& profile_;
  PathTree& tree_;
  const WaitLooks& looks_;
  std::vector<ModuleId> modules_;      // by row of WaitLooks::modules
  std::map<FileKey, ModuleId> known_;  // of the profile's modules
};

}  // namespace varve::load
