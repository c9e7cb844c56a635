// SPDX-License-Identifier: MIT
// LookPaths: stacks that the observer saw become paths of the profile. Context: viewer, one thread.
#pragma once

#include <vector>

#include "viewer/load/path_tree.h"
#include "viewer/load/profile.h"
#include "viewer/load/wait_looks.h"

namespace varve::load {

class LookPaths {
 public:
  /// All outlive it.
  LookPaths(Profile& profile, PathTree& tree, const WaitLooks& looks)
      : profile_(profile), tree_(tree), looks_(looks), modules_(looks.modules.size()) {}

  /// The path of the stack of a thread of `process`, made if it is new.
  PathId path_of(const WaitLook& look, ProcessId process);

 private:
  SiteId site_of(const WaitLooks::Frame& frame, ProcessId process);
  ModuleId module_of(uint32_t number);

  Profile& profile_;
  PathTree& tree_;
  const WaitLooks& looks_;
  std::vector<ModuleId> modules_;  // by row of WaitLooks::modules
};

}  // namespace varve::load
