// SPDX-License-Identifier: MIT
// See rust_punycode.h. RFC 3492, with the delimiter '_' that Rust uses.
// Context: viewer, any thread.
#include "viewer/symbol/rust_punycode.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "viewer/symbol/rust_text.h"

namespace varve::symbol {

std::optional<std::string> decode_punycode(std::string_view text) {
  std::vector<uint32_t> points;
  if (size_t basic = text.rfind('_'); basic != std::string_view::npos) {
    for (char c : text.substr(0, basic)) points.push_back(uint8_t(c));
    text.remove_prefix(basic + 1);
  }
  uint32_t n = 128, bias = 72;
  uint64_t i = 0;
  bool first = true;
  while (!text.empty()) {
    uint64_t start = i, weight = 1;
    for (uint32_t k = 36;; k += 36) {
      if (text.empty()) return std::nullopt;
      char c = text.front();
      text.remove_prefix(1);
      uint32_t digit = c >= 'a' && c <= 'z'   ? uint32_t(c - 'a')
                       : c >= '0' && c <= '9' ? uint32_t(c - '0' + 26)
                                              : 36;
      if (digit == 36) return std::nullopt;
      i += digit * weight;
      if (i > UINT32_MAX || weight > UINT32_MAX) return std::nullopt;
      uint32_t threshold = k <= bias ? 1 : std::min(k - bias, 26u);
      if (digit < threshold) break;
      weight *= 36 - threshold;
    }
    uint64_t count = points.size() + 1;
    uint64_t delta = (i - start) / (std::exchange(first, false) ? 700 : 2);
    delta += delta / count;
    uint32_t k = 0;
    for (; delta > 455; k += 36) delta /= 35;
    bias = k + uint32_t(36 * delta / (delta + 38));
    n += uint32_t(i / count);
    i %= count;
    if (!is_scalar(n)) return std::nullopt;
    points.insert(points.begin() + ptrdiff_t(i++), n);
  }
  std::string out;
  for (uint32_t point : points) append_utf8(out, point);
  return out;
}

}  // namespace varve::symbol
