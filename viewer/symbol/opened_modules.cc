// SPDX-License-Identifier: MIT
// Taking out and giving back. See opened_modules.h.
// Context: viewer.
#include "viewer/symbol/opened_modules.h"

#include <sys/resource.h>

#include <algorithm>

namespace varve::symbol {
namespace {

/// Of files on disk; debug information takes three to four times that when it is decompressed.
constexpr uint64_t kMostKeptBytes = 64 << 20;
constexpr rlim_t kMostModules = 16;

/// A module may have three descriptors: of its file, of its debug file and of what that shares with others.
/// All of them together get an eighth of those that this process may have.
size_t most_modules() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  return std::min(limit.rlim_cur / 24, kMostModules);
}

}  // namespace

OpenedModules::OpenedModules() : most_(most_modules()) {}

std::unique_ptr<OpenedModule> OpenedModules::take(const load::Profile& profile, ModuleId id,
                                                  const ResolveOptions& options, Debuginfod* server) {
  {
    std::lock_guard lock(mutex_);
    if (auto kept = kept_.extract(id)) {
      bytes_ -= kept.mapped()->bytes();
      return std::move(kept.mapped());
    }
  }
  return std::make_unique<OpenedModule>(profile, id, options, server);
}

void OpenedModules::give_back(ModuleId id, std::unique_ptr<OpenedModule> module) {
  std::lock_guard lock(mutex_);
  if (kept_.size() >= most_ || bytes_ + module->bytes() > kMostKeptBytes) return;
  bytes_ += module->bytes();
  kept_.emplace(id, std::move(module));
}

}  // namespace varve::symbol
