// SPDX-License-Identifier: MIT
// PathTree: decoded chunks, one after the other, become rows of sites and nodes of the tree of call paths. A
// stack that shares its root side with the one before costs only its fresh frames. Not a decoder. The order
// of the chunks alone decides the numbers of sites and paths. Context: viewer, one thread.
#pragma once

#include <optional>
#include <vector>

#include "viewer/load/intern_table.h"
#include "viewer/load/profile.h"
#include "viewer/load/sample_decoder.h"

namespace varve::load {

inline uint64_t hash_of(const Site& site) { return spread(site.vaddr.value + spread(site.module.value)); }
inline uint64_t hash_of(const Path& path) {
  return spread(uint64_t(path.parent.value) << 32 | path.site.value);
}

/// The SpecialSite that stands at the root side of a stack that is not whole; none for a whole one.
std::optional<SpecialSite> special_site(format::StackEnd end);

class PathTree {
 public:
  /// Fills `sites`, `paths` and the anonymous `modules` of the profile, which outlives the tree.
  explicit PathTree(Profile& profile);

  SiteId site(const Site& site) { return {site_table_.intern(profile_.sites, site)}; }
  SiteId site(SpecialSite kind) { return site(Site{ModuleId::none(), {uint64_t(kind)}}); }
  SiteId site(const CodeSite& code);
  PathId child(PathId parent, SiteId site);
  static constexpr PathId root() { return {0}; }

  /// The path of each sample of the chunk, in its order, appended to `paths`.
  void add(const DecodedChunk& chunk, std::vector<PathId>& paths);

 private:
  ModuleId anonymous_module(uint32_t process);
  PathId add_node(PathId parent, SiteId site);
  void walk_from(PathId base, size_t depth);

  Profile& profile_;
  InternTable<Site> site_table_;
  InternTable<Path> path_table_;              // children but the first of their parents
  std::vector<PathId> first_child_;           // by path; most nodes have one child, and need no hash
  std::vector<ModuleId> anonymous_;           // by process
  std::vector<std::vector<SiteId>> numbers_;  // by decoder: its numbers -> sites

  // The last stack, from the root.
  std::vector<SiteId> stack_sites_;
  std::vector<PathId> stack_paths_;
};

}  // namespace varve::load
