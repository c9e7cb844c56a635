// SPDX-License-Identifier: MIT
// Quality: a stack is whole unless the outermost site of its path is one that stands for frames not known.
// Context: viewer.
#include "viewer/analyze/quality.h"

#include <algorithm>

#include <map>
#include "viewer/analyze/thread_states.h"

namespace varve::analyze {
namespace {

bool stands_for_missing_frames(const load::Site& site) {
  return site.special() && site.kind() >= load::SpecialSite::kTruncated &&
         site.kind() < load::SpecialSite::kDeepRecursion;
}

bool stands_for_middle(const load::Site& site) {
  return site.special() && site.kind() == load::SpecialSite::kDeepRecursion;
}

bool stands_for_no_code(const load::Site& site) { return site.special() && !stands_for_missing_frames(site); }

/// For every path the path one and two steps from the root: its outermost site, and the outermost that is
/// code.
struct Outermost {
  std::vector<uint32_t> first, second;  // 0: there is none

  explicit Outermost(const std::vector<load::Path>& paths) : first(paths.size()), second(paths.size()) {
    for (uint32_t i = 1; i < paths.size(); ++i) {
      const uint32_t parent = paths[i].parent.value;
      first[i] = parent == 0 ? i : first[parent];
      second[i] = parent == 0 ? 0 : second[parent] != 0 ? second[parent] : i;
    }
  }
};

/// By path: whether the middle of a deep stack was left out of it.
std::vector<bool> deep_paths(const load::Profile& profile) {
  std::vector<bool> deep(profile.paths.size());
  for (uint32_t i = 1; i < deep.size(); ++i) {
    const load::Path& path = profile.paths[i];
    deep[i] = deep[path.parent.value] || stands_for_middle(profile.sites[path.site.index()]);
  }
  return deep;
}

void count_stacks(const load::Profile& profile, const Selection& selection, Quality& quality) {
  const std::vector<bool> deep = deep_paths(profile);
  const Outermost outermost(profile.paths);
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint64_t>> stopped;
  for (uint32_t i = 0; i < profile.paths.size(); ++i) {
    if (selection.by_path.zero(i)) continue;
    const auto row = selection.by_path.row(i);
    quality.samples += row[kSamples];
    if (deep[i]) quality.deep_samples += row[kSamples];
    const auto site_of = [&](uint32_t path) { return profile.sites[profile.paths[path].site.index()]; };
    if (i != 0 && stands_for_no_code(site_of(outermost.first[i]))) continue;
    if (i != 0 && !stands_for_missing_frames(site_of(outermost.first[i]))) {
      quality.whole_samples += row[kSamples];
      if (deep[i]) quality.whole_deep_samples += row[kSamples];
      continue;
    }
    // A stack without any frame says nothing either: it counts as one that stopped at once.
    const auto reason = i == 0 ? load::SpecialSite::kNoUnwindInfo : site_of(outermost.first[i]).kind();
    const uint32_t known = outermost.second[i];
    const ModuleId module = known == 0 ? ModuleId::none() : site_of(known).module;
    std::vector<uint64_t>& sum = stopped[{uint32_t(reason), module.value}];
    sum.resize(row.size());
    for (size_t k = 0; k < row.size(); ++k) sum[k] += row[k];
  }
  for (auto& [key, metrics] : stopped) {
    quality.stopped.push_back({load::SpecialSite(key.first), ModuleId{key.second}, std::move(metrics)});
  }
  std::stable_sort(quality.stopped.begin(), quality.stopped.end(),
                   [](const auto& a, const auto& b) { return a.metrics[kCpu] > b.metrics[kCpu]; });
}

void count_modules(const load::Profile& profile, const symbol::SymbolTable& symbols,
                   const Selection& selection, Quality& quality) {
  std::vector<ModuleTime> all(profile.modules.size());
  for (uint32_t i = 0; i < all.size(); ++i)
    all[i] = {{i}, std::vector<uint64_t>(selection.by_path.width()), 0};
  for (size_t i = 1; i < profile.paths.size(); ++i) {
    const SiteId site = profile.paths[i].site;
    const ModuleId module = profile.sites[site.index()].module;
    if (!module.valid() || selection.by_path.zero(i)) continue;
    ModuleTime& mine = all[module.index()];
    const auto row = selection.by_path.row(i);
    for (size_t k = 0; k < row.size(); ++k) mine.self[k] += row[k];
    const symbol::Function& function = symbols.functions[symbols.frames(site).front().function.index()];
    if (function.source == symbol::NameSource::kAddress) mine.unnamed_ns += row[kCpu];
  }
  std::erase_if(all, [](const ModuleTime& each) { return each.self[kCpu] == 0 && each.self[kSamples] == 0; });
  std::stable_sort(all.begin(), all.end(),
                   [](const ModuleTime& a, const ModuleTime& b) { return a.self[kCpu] > b.self[kCpu]; });
  quality.modules = std::move(all);
}

/// A thread that only the observer saw is worth a word if it ran that long; a child between fork and exec is
/// not.
constexpr uint64_t kWorthNamingNs = 1'000'000;

/// Time on a processor of the threads that no agent sampled, by thread; empty where there are none.
std::vector<uint64_t> unsampled_times(const load::Profile& profile) {
  std::vector<uint64_t> times;
  if (std::ranges::none_of(profile.threads, &load::Thread::seen_only)) return times;
  for (const ThreadStates& states : thread_states(profile, {})) times.push_back(states.running_ns);
  return times;
}

}  // namespace

Quality quality(const load::Profile& profile, const symbol::SymbolTable& symbols,
                const Selection& selection) {
  const std::vector<uint64_t> seen_ns = unsampled_times(profile);
  Quality result;
  count_stacks(profile, selection, result);
  count_modules(profile, symbols, selection, result);
  for (uint32_t i = 0; i < profile.threads.size(); ++i) {
    const load::Thread& thread = profile.threads[i];
    if (thread.no_timer || (thread.seen_only && seen_ns[i] >= kWorthNamingNs))
      result.unsampled_threads.push_back({i});
    result.ticks += thread.ticks;
    result.overruns += thread.overruns;
    result.handler += thread.handler;
  }
  return result;
}

}  // namespace varve::analyze
