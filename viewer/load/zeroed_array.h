// SPDX-License-Identifier: MIT
// ZeroedArray: a large table that begins with zeros and of which mostly little is used: what is never touched
// costs neither time nor memory, which a vector's does. Context: viewer.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace varve::load {

template <typename T>
class ZeroedArray {
  static_assert(std::is_trivially_default_constructible_v<T> && std::is_trivially_destructible_v<T>,
                "zeros must be a T");

 public:
  ZeroedArray() = default;
  /// From the kernel, where it is large, as pages of zeros.
  explicit ZeroedArray(size_t size) : rows_(static_cast<T*>(std::calloc(size, sizeof(T)))), size_(size) {
    if (!rows_) throw std::bad_alloc();
  }

  size_t size() const { return size_; }
  T& operator[](size_t index) { return rows_.get()[index]; }
  const T& operator[](size_t index) const { return rows_.get()[index]; }

 private:
  struct Free {
    void operator()(T* rows) const { std::free(rows); }
  };
  std::unique_ptr<T, Free> rows_;
  size_t size_ = 0;
};

}  // namespace varve::load
