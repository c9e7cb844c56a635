// SPDX-License-Identifier: MIT
// Lengths of time in ns, as tests write their examples. Context: tests.
#pragma once

#include <cstdint>

namespace varve {

inline constexpr uint64_t kUs = 1'000, kMs = 1'000'000, kSecond = 1'000'000'000;

}  // namespace varve
