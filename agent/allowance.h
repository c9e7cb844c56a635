// SPDX-License-Identifier: MIT
// Allowance: how often something may be done. Context: any thread of the target, its signal handlers
// included.
#pragma once

#include <atomic>
#include <cstdint>

namespace varve::agent {

/// So many records in a time, and some at once.
class Allowance {
 public:
  constexpr Allowance(uint64_t ns_each, uint64_t ns_at_once) : ns_each_(ns_each), ns_at_once_(ns_at_once) {}

  /// Whether take() would give one.
  bool has_any(uint64_t now_ns) const {
    return paid_until_ns_.load(std::memory_order_relaxed) <= now_ns + ns_at_once_;
  }

  /// Of two threads that ask at once both may be let through.
  bool take(uint64_t now_ns) {
    if (!has_any(now_ns)) return false;
    const uint64_t paid = paid_until_ns_.load(std::memory_order_relaxed);
    const uint64_t from = paid > now_ns ? paid : now_ns;
    paid_until_ns_.store(from + ns_each_, std::memory_order_relaxed);
    return true;
  }

 private:
  const uint64_t ns_each_, ns_at_once_;
  std::atomic<uint64_t> paid_until_ns_{0};
};

}  // namespace varve::agent
