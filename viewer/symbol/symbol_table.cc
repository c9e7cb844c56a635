// SPDX-License-Identifier: MIT
// The one function of the string table that is more than a look-up.
// Context: viewer.
#include "viewer/symbol/symbol_table.h"

namespace varve::symbol {

StringId StringTable::intern(std::string_view text) {
  if (auto found = ids_.find(text); found != ids_.end()) return found->second;
  StringId id{uint32_t(texts_.size())};
  auto [node, inserted] = ids_.emplace(std::string(text), id);
  texts_.push_back(node->first);
  return id;
}

}  // namespace varve::symbol
