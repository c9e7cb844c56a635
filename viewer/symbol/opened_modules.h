// SPDX-License-Identifier: MIT
// OpenedModules: modules that one lookup has opened and the next wants, too. Half of the time that names and
// lines of a short run take is the opening of debug files. Context: viewer; shared by threads.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "viewer/symbol/opened_module.h"

namespace varve::symbol {

/// Of one profile and one set of options; whoever may ask a server keeps others than who may not.
class OpenedModules {
 public:
  /// Keeps as many as descriptors allow.
  OpenedModules();
  /// Keeps so many at most; 0: each is closed when it is given back.
  explicit OpenedModules(size_t most) : most_(most) {}

  /// One that was given back, else a new one; it is the caller's alone until then. `server` may be null.
  std::unique_ptr<OpenedModule> take(const load::Profile& profile, ModuleId id, const ResolveOptions& options,
                                     Debuginfod* server);
  /// Kept for the next who takes it, unless there are too many of them, or their files are too large.
  void give_back(ModuleId id, std::unique_ptr<OpenedModule> module);

 private:
  std::mutex mutex_;
  std::multimap<ModuleId, std::unique_ptr<OpenedModule>> kept_;
  const size_t most_;
  uint64_t bytes_ = 0;  // of the files of those kept
};

}  // namespace varve::symbol
