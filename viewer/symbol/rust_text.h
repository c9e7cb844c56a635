// SPDX-License-Identifier: MIT
// Characters in Rust's linkage names, which both schemes spell as code points.
// Context: viewer, any thread.
#pragma once

#include <cstdint>
#include <string>

namespace varve::symbol {

inline void append_utf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += char(c);
  } else if (c < 0x800) {
    out += {char(0xc0 | c >> 6), char(0x80 | (c & 0x3f))};
  } else if (c < 0x10000) {
    out += {char(0xe0 | c >> 12), char(0x80 | (c >> 6 & 0x3f)), char(0x80 | (c & 0x3f))};
  } else {
    out += {char(0xf0 | c >> 18), char(0x80 | (c >> 12 & 0x3f)), char(0x80 | (c >> 6 & 0x3f)),
            char(0x80 | (c & 0x3f))};
  }
}

inline bool is_scalar(uint32_t c) { return c <= 0x10ffff && (c < 0xd800 || c > 0xdfff); }

/// -1 for what is no lower-case hexadecimal digit.
inline int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace varve::symbol
