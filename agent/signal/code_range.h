// SPDX-License-Identifier: MIT
// CodeRange: a half-open range of code addresses, in memory as module records have them. Context: signal.
#pragma once

#include <cstdint>

namespace varve::agent {

struct CodeRange {
  uint64_t begin = 0, end = 0;

  bool contains(uint64_t address) const { return address - begin < end - begin; }
};

}  // namespace varve::agent
