// SPDX-License-Identifier: MIT
// Interning of functions and the final order.
// Context: viewer; one thread.
#include "viewer/symbol/table_builder.h"

namespace varve::symbol {

FunctionId TableBuilder::function(ModuleId module, const NamedFunction& named) {
  std::string key(reinterpret_cast<const char*>(&module.value), sizeof module.value);
  auto [known, fresh] =
      functions_.try_emplace(key + named.identity, FunctionId{uint32_t(table_.functions.size())});
  if (fresh) table_.functions.emplace_back();
  Function& row = table_.functions[known->second.index()];
  StringTable& strings = table_.strings;
  bool better_name = !fresh && row.linkage_name == StringId{0} && !named.linkage.empty();
  if (fresh || better_name) {
    row.name = strings.intern(named.name);
    row.short_name = strings.intern(named.short_form);
    row.linkage_name = strings.intern(named.linkage);
  }
  if (fresh) {
    row.module = module;
    row.file = strings.intern(named.file);
    row.line = named.line;
    row.source = named.source;
  }
  bool better_place = named.size && (!row.size || named.low < row.low.value);
  if (fresh || better_place) {
    row.low = {named.low};
    row.size = named.size;
  }
  return known->second;
}

SymbolTable TableBuilder::finish() && {
  table_.site_first.reserve(site_frames_.size() + 1);
  table_.site_first.push_back(0);
  for (const std::vector<Frame>& frames : site_frames_) {
    table_.frame_rows.insert(table_.frame_rows.end(), frames.begin(), frames.end());
    table_.site_first.push_back(uint32_t(table_.frame_rows.size()));
  }
  return std::move(table_);
}

}  // namespace varve::symbol
