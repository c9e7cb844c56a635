// SPDX-License-Identifier: MIT
// Quality: a stack is whole unless the outermost site of its path is one that stands for frames not known.
// Context: viewer.
#include "viewer/analyze/quality.h"

#include <algorithm>
#include <map>

#include "viewer/analyze/path_walk.h"
#include "viewer/analyze/thread_states.h"
#include "viewer/load/held_back.h"

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

/// Of the walk's stack: the outermost site and the one below it, and whether frames in the middle are
/// missing.
class Outside {
 public:
  explicit Outside(const load::Profile& profile) : profile_(profile) {}

  void enter(uint32_t path) {
    sites_.push_back(&profile_.sites[profile_.paths[path].site.index()]);
    middles_ += stands_for_middle(*sites_.back());
  }
  void leave(uint32_t) {
    middles_ -= stands_for_middle(*sites_.back());
    sites_.pop_back();
  }
  /// Null: the stack has none.
  const load::Site* outermost() const { return sites_.empty() ? nullptr : sites_[0]; }
  const load::Site* second() const { return sites_.size() < 2 ? nullptr : sites_[1]; }
  bool deep() const { return middles_ != 0; }

 private:
  const load::Profile& profile_;
  std::vector<const load::Site*> sites_;
  size_t middles_ = 0;
};

void count_stacks(const load::Profile& profile, const Selection& selection, Quality& quality) {
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint64_t>> stopped;
  Outside outside(profile);
  PathWalk<Outside> walk(profile.paths, outside);
  selection.by_path.for_each([&](uint32_t path, std::span<const uint64_t> row) {
    walk.go_to(path);
    const load::Site *outermost = outside.outermost(), *known = outside.second();
    quality.samples += row[kSamples];
    if (outside.deep()) quality.deep_samples += row[kSamples];
    if (outermost != nullptr && stands_for_no_code(*outermost)) return;
    if (outermost != nullptr && !stands_for_missing_frames(*outermost)) {
      quality.whole_samples += row[kSamples];
      if (outside.deep()) quality.whole_deep_samples += row[kSamples];
      return;
    }
    // A stack without any frame says nothing either: it counts as one that stopped at once.
    const auto reason = outermost == nullptr ? load::SpecialSite::kNoUnwindInfo : outermost->kind();
    const ModuleId module = known == nullptr ? ModuleId::none() : known->module;
    std::vector<uint64_t>& sum = stopped[{uint32_t(reason), module.value}];
    sum.resize(row.size());
    for (size_t k = 0; k < row.size(); ++k) sum[k] += row[k];
  });
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
  selection.by_path.for_each([&](uint32_t path, std::span<const uint64_t> row) {
    const SiteId site = profile.paths[path].site;
    const ModuleId module = path == 0 ? ModuleId::none() : profile.sites[site.index()].module;
    if (!module.valid()) return;
    ModuleTime& mine = all[module.index()];
    for (size_t k = 0; k < row.size(); ++k) mine.self[k] += row[k];
    const symbol::Function& function = symbols.functions[symbols.frames(site).front().function.index()];
    if (function.source == symbol::NameSource::kAddress) mine.unnamed_ns += row[kCpu];
  });
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
    else if (load::held_back(profile, thread))
      result.held_back.push_back({i});
    result.ticks += thread.ticks;
    result.overruns += thread.overruns;
    result.handler += thread.handler;
    result.slowed_threads += thread.interval_doublings != 0;
    result.interval_doublings = std::max(result.interval_doublings, thread.interval_doublings);
  }
  return result;
}

}  // namespace varve::analyze
