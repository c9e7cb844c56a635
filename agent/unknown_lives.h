// SPDX-License-Identifier: MIT
// UnknownLives: addresses at which an object was made or destroyed without a record, because there were too
// many or none could be written. Whose object lies there now nobody knows: what was made there before may be
// gone. Never forgotten, as a thread may still wait for the one before; two addresses may share a bit, and
// then the other is not known either. Context: any thread of the target, its signal handlers included.
#pragma once

#include <atomic>
#include <cstdint>

namespace varve::agent {

class UnknownLives {
 public:
  void add(uint64_t object) {
    std::atomic<uint64_t>& word = words_[index(object) / 64];
    const uint64_t bit = bit_of(object);
    if (!(word.load(std::memory_order_relaxed) & bit)) word.fetch_or(bit, std::memory_order_relaxed);
  }
  bool has(uint64_t object) const {
    return words_[index(object) / 64].load(std::memory_order_relaxed) & bit_of(object);
  }

 private:
  /// Ten thousand objects, made and destroyed by turns, hide two of a hundred others.
  static constexpr uint64_t kBits = 512 * 1024;
  static uint64_t index(uint64_t object) { return object * 0x9e3779b97f4a7c15 >> 32 & (kBits - 1); }
  static uint64_t bit_of(uint64_t object) { return uint64_t{1} << (index(object) % 64); }

  alignas(4096) std::atomic<uint64_t> words_[kBits / 64];
};
static_assert(sizeof(UnknownLives) % 4096 == 0);

}  // namespace varve::agent
