// SPDX-License-Identifier: MIT
// See look_paths.h.
// Context: viewer.
#include "viewer/load/look_paths.h"

namespace varve::load {
namespace {

FileKey same_file(const std::vector<uint8_t>& build_id, const std::string& path) {
  return {build_id, build_id.empty() ? path : ""};
}

}  // namespace

LookPaths::LookPaths(Profile& profile, PathTree& tree, const WaitLooks& looks)
    : profile_(profile), tree_(tree), looks_(looks), modules_(looks.modules.size()) {
  for (uint32_t i = 0; i < profile.modules.size(); ++i)
    if (const Module& row = profile.modules[i]; !row.anonymous)
      known_.try_emplace(same_file(row.build_id, row.path), ModuleId{i});
}

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
  const auto [same, fresh] =
      known_.try_emplace(same_file(seen.build_id, seen.path), ModuleId{uint32_t(profile_.modules.size())});
  if (fresh) {
    Module row;
    row.path = seen.path;
    row.build_id = seen.build_id;
    profile_.modules.push_back(std::move(row));
  }
  return module = same->second;
}

}  // namespace varve::load
