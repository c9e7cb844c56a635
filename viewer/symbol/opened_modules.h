// SPDX-License-Identifier: MIT
// OpenedModules: modules that one lookup has opened and the next wants, too. Half of the time that names and
// lines of a short run take is the opening of debug files. Context: viewer; shared by threads.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "viewer/symbol/opened_module.h"

namespace varve::symbol {

/// Of one profile, and of one set of options.
class OpenedModules {
 public:
  /// One that was given back, else a new one; it is the caller's alone until then. `server` may be null.
  std::unique_ptr<OpenedModule> take(ModuleId id, const load::Module& module, const ResolveOptions& options,
                                     Debuginfod* server);
  /// Kept for the next who takes it, unless its files are so large that all that is kept would take too much
  /// memory.
  void give_back(ModuleId id, std::unique_ptr<OpenedModule> module);

 private:
  std::mutex mutex_;
  std::multimap<ModuleId, std::unique_ptr<OpenedModule>> kept_;
  uint64_t bytes_ = 0;  // of the files of those kept
};

}  // namespace varve::symbol
