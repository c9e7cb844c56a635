// SPDX-License-Identifier: MIT
// RowGroups: the rows of a table by a key that is a small number, without moving them. Context: viewer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace varve::load {

class RowGroups {
 public:
  /// Keys are below `keys`; `key_of(row)` is `keys` or more for a row of no interest.
  template <typename KeyOf>
  RowGroups(size_t keys, size_t rows, KeyOf key_of) : first_(keys + 1) {
    for (size_t row = 0; row < rows; ++row)
      if (const size_t key = key_of(row); key < keys) ++first_[key + 1];
    for (size_t key = 0; key < keys; ++key) first_[key + 1] += first_[key];
    rows_.resize(first_.back());
    std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
    for (size_t row = 0; row < rows; ++row)
      if (const size_t key = key_of(row); key < keys) rows_[next[key]++] = uint32_t(row);
  }

  /// In their order.
  std::span<const uint32_t> of(size_t key) const {
    return std::span(rows_).subspan(first_[key], first_[key + 1] - first_[key]);
  }

 private:
  std::vector<uint32_t> first_, rows_;
};

}  // namespace varve::load
