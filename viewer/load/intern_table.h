// SPDX-License-Identifier: MIT
// InternTable: index of a row in a vector of unique rows, by open addressing over 32-bit slots. A slot costs
// 4 bytes and a probe one look at the row itself, where std::unordered_map costs an allocation a row.
// Context: viewer, one thread.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace varve::load {

/// Fibonacci hashing: the high bits of the product are the well mixed ones.
constexpr uint64_t spread(uint64_t key) { return (key ^ key >> 32) * 0x9E3779B97F4A7C15u; }

/// Others in each process: who knew where rows go could make a profile whose rows all go to one place.
inline const std::array<uint64_t, 2> secret_factors = [] {
  std::random_device random;
  const auto odd = [&] { return (uint64_t(random()) << 32 | random()) | 1; };
  return std::array<uint64_t, 2>{odd(), odd()};
}();

/// Of an address and the number of what it lies in, mixed in its high bits (multilinear hashing: Carter and
/// Wegman, 1979).
inline uint64_t secret_hash(uint64_t address, uint64_t owner) {
  return address * secret_factors[0] + owner * secret_factors[1];
}

/// Row is comparable and has hash_of(Row) -> uint64_t, mixed in its high bits. The rows stand in a vector of
/// the caller's, who may also add rows that are not in the table. Which number a row has does not depend on
/// the place of its slot.
template <typename Row>
class InternTable {
 public:
  /// The index of the row equal to `row`, which is added to `rows` if it is not in the table yet.
  uint32_t intern(std::vector<Row>& rows, const Row& row) {
    if (used_ * 4 >= slots_.size() * 3) grow(rows);
    size_t mask = slots_.size() - 1;
    for (size_t slot = place_of(row);; slot = (slot + 1) & mask) {
      uint32_t index = slots_[slot];
      if (index == kEmpty) {
        slots_[slot] = uint32_t(rows.size());
        rows.push_back(row);
        ++used_;
        return slots_[slot];
      }
      if (rows[index] == row) return index;
    }
  }

 private:
  static constexpr uint32_t kEmpty = UINT32_MAX;

  size_t place_of(const Row& row) const { return hash_of(row) >> shift_; }

  void grow(const std::vector<Row>& rows) {
    std::vector<uint32_t> old(slots_.empty() ? 64 : slots_.size() * 2, kEmpty);
    old.swap(slots_);
    shift_ = 64 - unsigned(std::countr_zero(slots_.size()));
    for (uint32_t index : old) {
      if (index == kEmpty) continue;
      size_t slot = place_of(rows[index]);
      while (slots_[slot] != kEmpty) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = index;
    }
  }

  std::vector<uint32_t> slots_;
  size_t used_ = 0;
  unsigned shift_ = 64;
};

}  // namespace varve::load
