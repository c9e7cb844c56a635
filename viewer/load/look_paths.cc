// SPDX-License-Identifier: MIT
// See look_paths.h.
// Context: viewer.
#include "viewer/load/look_paths.h"

#include <algorithm>

namespace varve::load {

PathId LookPaths::path_of(const WaitLook& look, ProcessId process) {
  PathId path = PathTree::root();
  if (const auto special = special_site(look.end)) path = tree_.child(path, tree_.site(*special));
  for (uint32_t i = look.frames; i-- > 0;)
    path = tree_.child(path, site_of(looks_.frames[look.first_frame + i], process));
  return path;
}

SiteId LookPaths::site_of(const WaitLooks::Frame& frame, ProcessId process) {
  if (frame.module == WaitLooks::kNoModule)
    return tree_.site(CodeSite{frame.address, CodeSite::kAnonymous, process.value});
  return tree_.site(Site{module_of(frame.module), {frame.address}});
}

/// The module that an agent recorded, where it is the same file; else a new one.
ModuleId LookPaths::module_of(uint32_t number) {
  ModuleId& module = modules_[number];
  if (module.valid()) return module;
  const WaitLooks::Module& seen = looks_.modules[number];
  const auto same = std::ranges::find_if(profile_.modules, [&](const Module& known) {
    return !known.anonymous && known.build_id == seen.build_id &&
           (!seen.build_id.empty() || known.path == seen.path);
  });
  module = {uint32_t(same - profile_.modules.begin())};
  if (same == profile_.modules.end()) {
    Module row;
    row.path = seen.path;
    row.build_id = seen.build_id;
    profile_.modules.push_back(std::move(row));
  }
  return module;
}

}  // namespace varve::load
