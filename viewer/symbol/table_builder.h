// SPDX-License-Identifier: MIT
// TableBuilder: puts the frames of sites, found in any order, into one SymbolTable in the order of the sites.
// Context: viewer; one thread.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "viewer/load/profile.h"
#include "viewer/symbol/module_names.h"
#include "viewer/symbol/symbol_table.h"

namespace varve::symbol {

class TableBuilder {
 public:
  explicit TableBuilder(size_t sites) : site_frames_(sites) {}

  StringTable& strings() { return table_.strings; }
  void quality(ModuleQuality quality) { table_.modules.push_back(std::move(quality)); }

  /// The row of that function of that module; the first with an identity wins, later ones fill in what it
  /// lacks.
  FunctionId function(ModuleId module, const NamedFunction& function);
  /// Replaces what the site had.
  void frames(SiteId site, std::vector<Frame> frames) { site_frames_[site.index()] = std::move(frames); }
  bool has(SiteId site) const { return !site_frames_[site.index()].empty(); }

  SymbolTable finish() &&;

 private:
  SymbolTable table_;
  std::unordered_map<std::string, FunctionId> functions_;
  std::vector<std::vector<Frame>> site_frames_;
};

}  // namespace varve::symbol
