// SPDX-License-Identifier: MIT
// The process's cache from pc to unwind rule: direct-mapped, shared by all threads, lock-free. An entry is
// two words, the rule and the pc mixed with the rule and the generation, so an entry torn between two writers
// matches no pc. 8192 entries: twice as many miss the CPU's cache more often than they hit. Not the place
// where rules are made: that is frame_lookup.h. Context: signal; invalidate() in any thread of the target.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/signal/object_lookup.h"
#include "agent/signal/packed_rule.h"

namespace varve::agent {

class RuleCache {
 public:
  static constexpr unsigned kIndexBits = 13;
  static constexpr size_t kEntries = size_t{1} << kIndexBits;

  struct Entry {
    std::atomic<uint64_t> check;
    std::atomic<uint64_t> rule;
  };
  static constexpr size_t kBytes = kEntries * sizeof(Entry);
  static_assert(sizeof(Entry) == 16 && std::atomic<uint64_t>::is_always_lock_free);

  constexpr RuleCache() = default;

  /// `memory` is kBytes of zeros, aligned to 16, that stay for good. Before the first walk.
  void init(void* memory, FindObject lookup);

  /// Forgets every rule. Called around dlclose, because addresses may now mean other code, and in a fork's
  /// child, whose file must get its modules anew.
  void invalidate();

  /// To be taken at the start of a walk, so that rules found by a walk that began before an invalidate() are
  /// void.
  uint32_t generation() const { return generation_.load(std::memory_order_acquire); }

  /// The rule for `pc`, or one of Form::kNone.
  PackedRule find(uint64_t pc, uint32_t generation) const {
    const Entry& entry = entries_[slot(pc)];
    const uint64_t rule = entry.rule.load(std::memory_order_relaxed);
    const uint64_t check = entry.check.load(std::memory_order_relaxed);
    return check == seal(pc, generation, rule) ? PackedRule(rule) : PackedRule();
  }

  void insert(uint64_t pc, uint32_t generation, PackedRule rule) {
    Entry& entry = entries_[slot(pc)];
    entry.rule.store(rule.bits(), std::memory_order_relaxed);
    entry.check.store(seal(pc, generation, rule.bits()), std::memory_order_relaxed);
  }

  FindObject find_object() const { return find_object_; }

  /// User addresses have 47 bits; the generation takes the other 17.
  static constexpr unsigned kAddressBits = 47;
  static constexpr bool is_user_address(uint64_t pc) { return pc >> kAddressBits == 0; }

 private:
  static constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd

  static size_t slot(uint64_t pc) { return (pc * kGolden) >> (64 - kIndexBits); }
  static uint64_t seal(uint64_t pc, uint32_t generation, uint64_t rule) {
    return (pc ^ uint64_t(generation) << kAddressBits) ^ rule * kGolden;
  }

  Entry* entries_ = nullptr;
  FindObject find_object_ = nullptr;
  std::atomic<uint32_t> generation_ = 0;
};

}  // namespace varve::agent
