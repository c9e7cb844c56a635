// SPDX-License-Identifier: MIT
// Distances of ticks by chance: their bounds, and that all of what lies between occurs. Context: unit tests.
#include "agent/signal/tick_distance.h"

#include <criterion/criterion.h>

#include <algorithm>
#include <vector>

namespace varve::agent {
namespace {

constexpr int kDraws = 20'000;

std::vector<uint64_t> drawn(uint64_t (*distance)(uint64_t), uint64_t interval_ns) {
  std::vector<uint64_t> all(kDraws);
  for (uint64_t& each : all) each = distance(interval_ns);
  std::ranges::sort(all);
  return all;
}

/// Draws reach within a hundredth of both bounds.
void expect_between(const std::vector<uint64_t>& all, uint64_t least, uint64_t most) {
  const uint64_t margin = (most - least) / 100;
  cr_expect(all.front() >= least && all.back() <= most, "%lu to %lu", all.front(), all.back());
  cr_expect(all.front() <= least + margin && all.back() >= most - margin, "%lu to %lu", all.front(),
            all.back());
}

Test(tick_distance, lies_around_the_interval) {
  expect_between(drawn(random_distance, 1'000'000), 875'000, 1'125'000);
}

Test(tick_distance, of_the_first_tick_is_any_part_of_the_interval_that_is_no_storm) {
  expect_between(drawn(first_distance, 10'000'000), 100'000, 10'000'000);
  expect_between(drawn(first_distance, 1'000'000), 100'000, 1'000'000);
  expect_between(drawn(first_distance, 100'000), 87'500, 112'500);
}

}  // namespace
}  // namespace varve::agent
