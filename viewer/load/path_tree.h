// SPDX-License-Identifier: MIT
// PathTree: decoded chunks, one after the other, become rows of sites and nodes of the tree of call paths. A
// stack that shares its root side with the one before costs only its fresh frames. Nodes met lately are found
// again by a cache; one that fell out of it gets a second node of the same meaning, which every analysis adds
// up with the first. A table of all nodes would find it, at a miss of the processor's caches for each of a
// hundred million frames. Not a decoder. The order of the chunks alone decides the numbers of sites and
// paths. Context: viewer, one thread.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "viewer/load/intern_table.h"
#include "viewer/load/profile.h"
#include "viewer/load/sample_decoder.h"
#include "viewer/load/zeroed_array.h"

namespace varve::load {

inline uint64_t hash_of(const Site& site) { return secret_hash(site.vaddr.value, site.module.value); }

/// The SpecialSite that stands at the root side of a stack that is not whole; none for a whole one.
std::optional<SpecialSite> special_site(format::StackEnd end);

class PathTree {
 public:
  /// Fills `sites`, `paths` and the anonymous `modules` of the profile, which outlives the tree.
  explicit PathTree(Profile& profile);

  /// Tells how many bytes of samples will be decoded, so that the table of paths need not move as it grows.
  void expect(uint64_t sample_bytes);

  /// Sites, paths and owners of anonymous modules as an earlier tree left them; all goes on as it would have
  /// with that one. Only for an empty tree. False: a site stands there twice, and nothing was adopted.
  bool adopt(std::span<const ProcessId> owners, std::span<const Site> sites, std::vector<Path> paths);

  SiteId site(const Site& site) { return {site_table_.intern(profile_.sites, site)}; }
  SiteId site(SpecialSite kind) { return site(Site{ModuleId::none(), {uint64_t(kind)}}); }
  SiteId site(const CodeSite& code);
  PathId child(PathId parent, SiteId site);
  static constexpr PathId root() { return {0}; }

  /// The sites that the chunk is the first of its decoder to name: to be told of each chunk, in their order,
  /// also of those whose samples are not added.
  void learn(const DecodedChunk& chunk);

  /// The path of each sample of the chunk, in its order, appended to `paths`. Its sites are learned.
  void add(const DecodedChunk& chunk, std::vector<PathId>& paths);

 private:
  struct Recent {
    uint32_t parent, site;
    uint32_t path;  // the root, which is nobody's child: empty
  };
  /// 3 MB: as many slots as call paths of a program that are met again and again.
  static constexpr unsigned kRecentBits = 18;

  Recent& recent(PathId parent, SiteId site) {
    return recent_[spread(uint64_t(parent.value) << 32 | site.value) >> (64 - kRecentBits)];
  }
  ModuleId anonymous_module(uint32_t process);
  void walk_from(PathId base, size_t depth);

  Profile& profile_;
  InternTable<Site> site_table_;
  ZeroedArray<Recent> recent_;                // direct-mapped
  std::vector<ModuleId> anonymous_;           // by process
  std::vector<std::vector<SiteId>> numbers_;  // by decoder: its numbers -> sites

  // The last stack, from the root.
  std::vector<SiteId> stack_sites_;
  std::vector<PathId> stack_paths_;
};

}  // namespace varve::load
