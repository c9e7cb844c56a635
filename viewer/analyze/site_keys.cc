// SPDX-License-Identifier: MIT
// Makes the keys of every site, once a report.
// Context: viewer.
#include "viewer/analyze/site_keys.h"

#include <unordered_map>

namespace varve::analyze {

std::span<const symbol::Frame> counted_frames(const symbol::SymbolTable& symbols, SiteId site, bool inlines) {
  const std::span<const symbol::Frame> frames = symbols.frames(site);
  return inlines ? frames : frames.last(1);
}

namespace {

/// Keys by a function of the frame.
template <typename KeyOf>
SiteKeys keys_by_frame(const load::Profile& profile, const symbol::SymbolTable& symbols, bool inlines,
                       KeyOf key_of) {
  SiteKeys result;
  result.first.reserve(profile.sites.size() + 1);
  result.first.push_back(0);
  for (uint32_t i = 0; i < profile.sites.size(); ++i) {
    const auto frames = counted_frames(symbols, {i}, inlines);
    for (size_t j = frames.size(); j-- > 0;) result.keys.push_back(key_of(frames[j]));
    result.first.push_back(uint32_t(result.keys.size()));
  }
  return result;
}

}  // namespace

SiteKeys function_keys(const load::Profile& profile, const symbol::SymbolTable& symbols, bool inlines) {
  SiteKeys result = keys_by_frame(profile, symbols, inlines,
                                  [](const symbol::Frame& frame) { return frame.function.value; });
  result.count = symbols.functions.size();
  return result;
}

SiteKeys module_keys(const load::Profile& profile) {
  SiteKeys result;
  result.first.push_back(0);
  for (const load::Site& site : profile.sites) {
    result.keys.push_back(site.special() ? uint32_t(profile.modules.size()) + uint32_t(site.kind())
                                         : site.module.value);
    result.first.push_back(uint32_t(result.keys.size()));
  }
  result.count = profile.modules.size() + size_t(load::SpecialSite::kCount);
  return result;
}

LineKeys line_keys(const load::Profile& profile, const symbol::SymbolTable& symbols, bool inlines) {
  LineKeys result;
  // One space of keys: (file, line) for known lines; (all ones, function) for the others.
  std::unordered_map<uint64_t, uint32_t> known;
  result.sites = keys_by_frame(profile, symbols, inlines, [&](const symbol::Frame& frame) {
    const bool has_line = frame.line != 0 && frame.file.valid() && frame.file.value != 0;
    const uint64_t high = has_line ? frame.file.value : UINT32_MAX;
    const uint64_t low = has_line ? frame.line : frame.function.value;
    const auto [at, fresh] = known.try_emplace(high << 32 | low, uint32_t(result.rows.size()));
    if (fresh) {
      result.rows.push_back({has_line ? frame.file : StringId{0}, has_line ? frame.line : 0, frame.function});
    }
    return at->second;
  });
  result.sites.count = result.rows.size();
  return result;
}

}  // namespace varve::analyze
