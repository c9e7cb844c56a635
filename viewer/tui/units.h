// SPDX-License-Identifier: MIT
// Small choices that screens and widgets share: units of CPU time, directions of a search. Context: viewer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace varve::tui {

enum class Direction : uint8_t { kForward, kBackward };

enum class Units : uint8_t { kAll, kShare, kTime, kSamples };

constexpr Units next(Units units) {
  return units == Units::kSamples ? Units::kAll : Units(uint8_t(units) + 1);
}

constexpr std::string_view units_name(Units units) {
  constexpr std::string_view kNames[] = {"all units", "percent", "seconds", "samples"};
  return kNames[size_t(units)];
}

}  // namespace varve::tui
