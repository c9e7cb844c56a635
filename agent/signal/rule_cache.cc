// SPDX-License-Identifier: MIT
// The parts of the rule cache that are not on the path of a hit; see rule_cache.h.
// Context: agent start, any thread of the target.
#include "agent/signal/rule_cache.h"

namespace varve::agent {

void RuleCache::init(void* memory, FindObject lookup) {
  entries_ = static_cast<Entry*>(memory);
  find_object_ = lookup;
}

void RuleCache::invalidate() {
  uint32_t generation = generation_.fetch_add(1, std::memory_order_acq_rel) + 1;
  // The upper bits of the counter do not fit into an entry: where the lower ones begin anew, old entries must
  // go.
  if (generation % (1u << (64 - kAddressBits)) != 0) return;
  for (size_t i = 0; i < kEntries; ++i) {
    entries_[i].rule.store(0, std::memory_order_relaxed);
    entries_[i].check.store(0, std::memory_order_relaxed);
  }
}

}  // namespace varve::agent
