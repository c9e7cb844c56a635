// SPDX-License-Identifier: MIT
// SiteKeys: what a site counts for in a flat view: functions, modules or source lines, as dense row numbers.
// Hotspots, modules and lines are one algorithm (attribute.h) over three of these.
// Context: viewer.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "viewer/load/profile.h"
#include "viewer/symbol/symbol_table.h"

namespace varve::analyze {

struct SiteKeys {
  std::vector<uint32_t> first;  // size = sites + 1
  std::vector<uint32_t> keys;   // of one site from the outermost frame to the innermost
  size_t count = 0;             // of different keys

  std::span<const uint32_t> of(SiteId site) const {
    return {keys.data() + first[site.index()], keys.data() + first[site.index() + 1]};
  }
};

/// The frames that count: all of them, or without inlined calls only the outermost.
std::span<const symbol::Frame> counted_frames(const symbol::SymbolTable& symbols, SiteId site, bool inlines);

/// key = index of the function
SiteKeys function_keys(const load::Profile& profile, const symbol::SymbolTable& symbols, bool inlines);

/// key = index of the module; modules.size() + kind for a special site
SiteKeys module_keys(const load::Profile& profile);

/// A source line, or a function whose lines are not known.
struct LineKey {
  StringId file;  // empty: not known
  uint32_t line = 0;
  FunctionId function;  // one of those that have code on the line
};
struct LineKeys {
  SiteKeys sites;
  std::vector<LineKey> rows;
};
LineKeys line_keys(const load::Profile& profile, const symbol::SymbolTable& symbols, bool inlines);

}  // namespace varve::analyze
