// SPDX-License-Identifier: MIT
// What one call of something costs: rounds of it by the clock, and the row of a table that says so. The
// fastest tenth of the rounds is the cost, since others share the machine; the median beside it tells how
// much they do. Context: micro benchmarks.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace varve::micro {

using Clock = std::chrono::steady_clock;

/// Of one call, in ns.
struct Cost {
  double tenth = 0, median = 0;
};

/// `before` is run ahead of each round, outside of the time; `work` does what is measured `calls` times.
template <typename Before, typename Work>
Cost cost_of(size_t rounds, double calls, Before before, Work work) {
  std::vector<double> times(rounds);
  for (double& time : times) {
    before();
    const auto begin = Clock::now();
    work();
    time = std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / calls;
  }
  std::ranges::sort(times);
  return {times[rounds / 10], times[rounds / 2]};
}
template <typename Work>
Cost cost_of(size_t rounds, double calls, Work work) {
  return cost_of(
      rounds, calls, [] {}, work);
}

inline void print_head(const char* title) {
  std::printf("\n%s\n\n| what | ns | median ns |\n|---|---|---|\n", title);
}
inline void print_row(const std::string& what, Cost cost) {
  std::printf("| %s | %.1f | %.1f |\n", what.c_str(), cost.tenth, cost.median);
  std::fflush(stdout);
}

/// Keeps the compiler from leaving out what computes it.
template <typename T>
void use(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

}  // namespace varve::micro
