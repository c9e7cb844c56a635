// SPDX-License-Identifier: MIT
// Taking out and giving back. See opened_modules.h.
// Context: viewer.
#include "viewer/symbol/opened_modules.h"

namespace varve::symbol {
namespace {

/// Of files on disk; debug information takes three to four times that when it is decompressed.
constexpr uint64_t kMostBytes = 64 << 20;

}  // namespace

std::unique_ptr<OpenedModule> OpenedModules::take(ModuleId id, const load::Module& module,
                                                  const ResolveOptions& options, Debuginfod* server) {
  {
    std::lock_guard lock(mutex_);
    if (auto kept = kept_.extract(id)) {
      bytes_ -= kept.mapped()->bytes();
      return std::move(kept.mapped());
    }
  }
  return std::make_unique<OpenedModule>(module, options, server);
}

void OpenedModules::give_back(ModuleId id, std::unique_ptr<OpenedModule> module) {
  std::lock_guard lock(mutex_);
  if (bytes_ + module->bytes() > kMostBytes) return;
  bytes_ += module->bytes();
  kept_.emplace(id, std::move(module));
}

}  // namespace varve::symbol
