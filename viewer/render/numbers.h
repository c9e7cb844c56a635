// SPDX-License-Identifier: MIT
// Numbers as people read them: times, shares and counts with a sensible number of digits.
// Context: viewer.
#pragma once

#include <cstdint>
#include <string>

namespace varve::render {

/// A scale for times that stand under each other: one unit and one number of decimals for all.
struct TimeScale {
  const char* unit = "s";
  uint64_t nanos = 1'000'000'000;
  int decimals = 2;
};

/// The scale in which the largest has at least three digits: 12.40 s, 1.240 s, 124.0 ms, 12.40 ms.
TimeScale time_scale(uint64_t largest_ns);
/// Rounded half up, without the unit.
std::string time_number(uint64_t ns, const TimeScale& scale);
/// With the unit, in a scale of its own: "12.40 s".
std::string time_text(uint64_t ns);
/// Three digits and the unit, in the fewest letters: "2.29s", "352us".
std::string short_time_text(uint64_t ns);

std::string percent(double share);  // "26.0"; a share too small for that is "0.0"
std::string bytes_text(uint64_t bytes);

}  // namespace varve::render
