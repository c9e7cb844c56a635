// SPDX-License-Identifier: MIT
// See path_tree.h.
// Context: viewer, one thread.
#include "viewer/load/path_tree.h"

#include <algorithm>
#include <array>

namespace varve::load {

std::optional<SpecialSite> special_site(format::StackEnd end) {
  static constexpr std::array<SpecialSite, size_t(format::StackEnd::kCount)> kSites = {
      SpecialSite::kCount,  // kRoot: whole
      SpecialSite::kTruncated,   SpecialSite::kNoUnwindInfo, SpecialSite::kBadMemory,
      SpecialSite::kNoProgress,  SpecialSite::kBadCfi,       SpecialSite::kBadReturn,
      SpecialSite::kUnsupported, SpecialSite::kNoRoom,       SpecialSite::kNotTaken,
  };
  if (end == format::StackEnd::kRoot || end >= format::StackEnd::kCount) return std::nullopt;
  return kSites[size_t(end)];
}

PathTree::PathTree(Profile& profile) : profile_(profile), recent_(size_t{1} << kRecentBits) {
  profile_.paths.push_back({});
}

void PathTree::expect(uint64_t sample_bytes) {
  // A fresh frame of a random address takes five bytes, one near its neighbour two. What is reserved and not
  // used is no memory.
  constexpr uint64_t kBytesPerFrame = 3, kMost = uint64_t{1} << 30;
  profile_.paths.reserve(size_t(std::min(sample_bytes / kBytesPerFrame, kMost)));
}

bool PathTree::adopt(std::span<const ProcessId> owners, std::span<const Site> sites,
                     std::vector<Path> paths) {
  for (const Site& each : sites) site(each);
  if (profile_.sites.size() != sites.size()) {
    profile_.sites.clear();
    site_table_ = {};
    return false;
  }
  for (const ProcessId owner : owners) anonymous_module(owner.value);
  profile_.paths = std::move(paths);
  // A node was made where the cache did not have it, and then took that place: the last one has it.
  size_t empty = recent_.size();
  for (size_t i = profile_.paths.size(); i-- > 1 && empty > 0;) {
    const Path& path = profile_.paths[i];
    Recent& place = recent(path.parent, path.site);
    if (place.path != root().value) continue;
    place = {path.parent.value, path.site.value, uint32_t(i)};
    --empty;
  }
  return true;
}

ModuleId PathTree::anonymous_module(uint32_t process) {
  if (process >= anonymous_.size()) anonymous_.resize(process + 1);
  if (!anonymous_[process].valid()) {
    anonymous_[process] = {uint32_t(profile_.modules.size())};
    Module module;
    module.path = "[anonymous]";
    module.anonymous = true;
    module.process = {process};
    profile_.modules.push_back(std::move(module));
  }
  return anonymous_[process];
}

SiteId PathTree::site(const CodeSite& code) {
  if (code.module == CodeSite::kSpecial) return site(SpecialSite(code.vaddr));
  ModuleId module{code.module};
  if (code.module == CodeSite::kAnonymous) module = anonymous_module(code.process);
  return site(Site{module, {code.vaddr}});
}

PathId PathTree::child(PathId parent, SiteId site) {
  Recent& known = recent(parent, site);
  if (known.path == root().value || known.parent != parent.value || known.site != site.value) {
    known = {parent.value, site.value, uint32_t(profile_.paths.size())};
    profile_.paths.push_back({parent, site});
  }
  return {known.path};
}

/// Paths of the frames of the last stack from `depth` on, the first a child of `base`.
void PathTree::walk_from(PathId base, size_t depth) {
  PathId parent = depth ? stack_paths_[depth - 1] : base;
  stack_paths_.resize(stack_sites_.size());
  for (size_t i = depth; i < stack_sites_.size(); ++i)
    stack_paths_[i] = parent = child(parent, stack_sites_[i]);
}

void PathTree::learn(const DecodedChunk& chunk) {
  if (chunk.decoder >= numbers_.size()) numbers_.resize(chunk.decoder + 1);
  for (const CodeSite& code : chunk.new_sites) numbers_[chunk.decoder].push_back(site(code));
}

void PathTree::add(const DecodedChunk& chunk, std::vector<PathId>& paths) {
  const std::vector<SiteId>& numbers = numbers_[chunk.decoder];
  stack_sites_.clear();
  PathId base = root();
  const uint32_t* frame = chunk.frames.data();
  for (const DecodedSample& sample : chunk.samples) {
    if (sample.end == format::StackEnd::kNotTaken) {
      paths.push_back(child(root(), site(SpecialSite::kNotTaken)));
      continue;
    }
    auto special = special_site(sample.end);
    PathId sample_base = special ? child(root(), site(*special)) : root();
    stack_sites_.resize(sample.shared);
    for (uint32_t i = 0; i < sample.fresh; ++i) stack_sites_.push_back(numbers[*frame++]);
    // Frames shared with a stack that ended otherwise have another root side, so they are other paths.
    walk_from(sample_base, sample_base == base ? sample.shared : 0);
    base = sample_base;
    paths.push_back(stack_sites_.empty() ? base : stack_paths_.back());
  }
}

}  // namespace varve::load
