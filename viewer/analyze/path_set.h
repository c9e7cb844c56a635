// SPDX-License-Identifier: MIT
// PathSet: some paths of a profile, and the place of each among them: a bit a path, and half a bit for the
// count. A profile has a hundred million paths, of which a question concerns a fraction; numbers of those
// stand in tables of their own, in the order of the paths. Not a table: it knows no numbers. Context: viewer.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace varve::analyze {

class PathSet {
 public:
  explicit PathSet(size_t paths = 0) : paths_(paths), words_((paths + kBits - 1) / kBits) {}

  size_t paths() const { return paths_; }
  void insert(size_t path) { words_[path / kBits] |= bit(path); }
  bool contains(size_t path) const { return (words_[path / kBits] & bit(path)) != 0; }
  /// Of as many paths.
  void insert(const PathSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }

  /// After the last insert(); what follows needs it.
  void close() {
    before_.assign(1, 0);
    before_.reserve(words_.size() + 1);
    for (const uint64_t word : words_) before_.push_back(before_.back() + uint32_t(std::popcount(word)));
  }
  size_t size() const { return before_.back(); }
  /// How many members there are before this path: the row of a member.
  uint32_t rank(size_t path) const {
    return before_[path / kBits] + uint32_t(std::popcount(words_[path / kBits] & (bit(path) - 1)));
  }
  /// Bounds of `count` ranges of paths that have about as many members each: range i ends where i + 1 begins.
  size_t part(size_t i, size_t count) const {
    const auto word = std::ranges::lower_bound(before_, uint32_t(size() * i / count)) - before_.begin();
    return i == 0 ? 0 : i == count ? paths_ : std::min(size_t(word) * kBits, paths_);
  }

  /// Calls use(path, row) for the members in [first, end), bounds of parts, in their order.
  template <typename Use>
  void for_each(size_t first, size_t end, Use&& use) const {
    uint32_t row = before_[first / kBits];
    for (size_t word = first / kBits; word * kBits < end; ++word)
      for (uint64_t left = words_[word]; left != 0; left &= left - 1)
        use(uint32_t(word * kBits + size_t(std::countr_zero(left))), row++);
  }

 private:
  static constexpr size_t kBits = 64;
  static uint64_t bit(size_t path) { return uint64_t{1} << path % kBits; }

  size_t paths_;
  std::vector<uint64_t> words_;
  std::vector<uint32_t> before_ = {0};  // by word: members in the words before it; the last: all
};

}  // namespace varve::analyze
