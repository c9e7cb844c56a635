// SPDX-License-Identifier: MIT
// Formats numbers with integers where sums must hold to the last digit.
// Context: viewer.
#include "viewer/render/numbers.h"

#include <fmt/format.h>

namespace varve::render {

TimeScale time_scale(uint64_t largest_ns) {
  static constexpr TimeScale kScales[] = {
      {"s", 1'000'000'000, 2}, {"ms", 1'000'000, 2}, {"us", 1'000, 2}, {"ns", 1, 0}};
  for (TimeScale scale : kScales) {
    if (largest_ns < scale.nanos) continue;
    if (scale.nanos == 1) return scale;
    if (largest_ns < 10 * scale.nanos) scale.decimals = 3;
    if (largest_ns >= 100 * scale.nanos && scale.nanos != 1'000'000'000) scale.decimals = 1;
    return scale;
  }
  return {};
}

std::string time_number(uint64_t ns, const TimeScale& scale) {
  uint64_t per_unit = 1;
  for (int i = 0; i < scale.decimals; ++i) per_unit *= 10;
  const uint64_t step = scale.nanos / per_unit;
  const uint64_t steps = step == 0 ? ns : ns / step + (ns % step * 2 >= step ? 1 : 0);
  if (scale.decimals == 0) return fmt::format("{}", steps);
  return fmt::format("{}.{:0{}}", steps / per_unit, steps % per_unit, scale.decimals);
}

std::string time_text(uint64_t ns) {
  const TimeScale scale = time_scale(ns);
  return fmt::format("{} {}", time_number(ns, scale), ns == 0 ? "s" : scale.unit);
}

std::string short_time_text(uint64_t ns) {
  static constexpr const char* kUnits[] = {"ns", "us", "ms", "s"};
  double number = double(ns);
  size_t unit = 0;
  while (number >= 999.5 && unit + 1 < std::size(kUnits)) number /= 1000, ++unit;
  const int decimals = unit == 0 || number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}{}", number, decimals, kUnits[unit]);
}

std::string percent(double share) { return fmt::format("{:.1f}", share * 100); }

std::string bytes_text(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  double number = double(bytes);
  size_t unit = 0;
  while (number >= 999.5 && unit + 1 < std::size(kUnits)) number /= 1000, ++unit;
  return fmt::format("{:.{}f} {}", number, unit == 0 || number >= 99.5 ? 0 : 1, kUnits[unit]);
}

}  // namespace varve::render
