// SPDX-License-Identifier: MIT
// Numbers of variable length. Source: DWARF 5, section 7.6. Context: signal included.
#include "common/cfi.h"

namespace varve::cfi {

uint64_t Cursor::uleb() {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    uint8_t byte = read<uint8_t>();
    if (shift < 64) value |= uint64_t(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

int64_t Cursor::sleb() {
  uint64_t value = 0;
  for (unsigned shift = 0;;) {
    uint8_t byte = read<uint8_t>();
    if (shift < 64) value |= uint64_t(byte & 0x7f) << shift;
    shift += 7;
    if (byte >= 0x80) continue;
    if (shift < 64 && (byte & 0x40)) value |= ~uint64_t{0} << shift;
    return int64_t(value);
  }
}

}  // namespace varve::cfi
