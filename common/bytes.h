// SPDX-License-Identifier: MIT
// ByteView: the only way to read input. A view shrinks from the front as it is read, and every read is
// checked. Throws ParseError, which is caught in two places only: the loader's chunk loop and the symbol
// readers. Context: viewer. The agent reads its own process's memory through agent/signal/stack_memory.h
// instead.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "common/varint.h"

namespace varve {

/// Input that does not hold what its format promises. The message is a clause without a subject: "ends inside
/// a record".
struct ParseError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class ByteView {
 public:
  ByteView() = default;
  explicit ByteView(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  std::span<const uint8_t> rest() const { return bytes_; }

  /// The next `count` bytes as a view of their own; this view goes on after them.
  ByteView take(size_t count) {
    require(count);
    ByteView head(bytes_.first(count));
    bytes_ = bytes_.subspan(count);
    return head;
  }

  void skip(size_t count) { take(count); }

  /// The next object, copied: the input need not be aligned.
  template <typename T>
  T read() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, take(sizeof(T)).bytes_.data(), sizeof(T));
    return value;
  }

  /// Looks at the next object without consuming it.
  template <typename T>
  T peek() const {
    ByteView copy = *this;
    return copy.read<T>();
  }

  /// LEB128, at most 64 bits.
  uint64_t read_varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) throw_short();
      uint8_t byte = bytes_.front();
      bytes_ = bytes_.subspan(1);
      value |= uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw ParseError("has a number longer than 64 bits");
  }

  int64_t read_signed_varint() { return unzigzag(read_varint()); }

  /// Text up to the next NUL, which is consumed and not returned.
  std::string_view read_text() {
    const void* end = empty() ? nullptr : std::memchr(bytes_.data(), 0, bytes_.size());
    if (!end) throw ParseError("has text without an end");
    size_t length = size_t(static_cast<const uint8_t*>(end) - bytes_.data());
    std::string_view text(reinterpret_cast<const char*>(bytes_.data()), length);
    bytes_ = bytes_.subspan(length + 1);
    return text;
  }

 private:
  void require(size_t count) const {
    if (count > bytes_.size()) throw_short();
  }
  [[noreturn]] static void throw_short() { throw ParseError("ends inside a record"); }

  std::span<const uint8_t> bytes_;
};

}  // namespace varve
