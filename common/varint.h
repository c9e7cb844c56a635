// SPDX-License-Identifier: MIT
// LEB128 and zigzag, the two encodings of sample records. Writers trust their buffer; reading untrusted input
// goes through ByteView (bytes.h), which has its own bounds-checked varint. Context: any, signal included;
// nothing here allocates.
#pragma once

#include <cstdint>

namespace varve {

/// Writes `value` at `out` (up to 10 bytes) and returns the byte after it.
inline uint8_t* put_varint(uint8_t* out, uint64_t value) {
  while (value >= 0x80) {
    *out++ = uint8_t(value) | 0x80;
    value >>= 7;
  }
  *out++ = uint8_t(value);
  return out;
}

/// Signed differences as small unsigned numbers: 0, -1, 1, -2 become 0, 1, 2, 3.
constexpr uint64_t zigzag(int64_t value) { return (uint64_t(value) << 1) ^ uint64_t(value >> 63); }
constexpr int64_t unzigzag(uint64_t value) { return int64_t(value >> 1) ^ -int64_t(value & 1); }

inline uint8_t* put_delta(uint8_t* out, uint64_t value, uint64_t base) {
  return put_varint(out, zigzag(int64_t(value - base)));
}

}  // namespace varve
