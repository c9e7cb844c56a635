// SPDX-License-Identifier: MIT
// WaitSum: what is said of waits of which some are known alone and others by their sum only. Context: tests.
#include "viewer/analyze/wait_sums.h"

#include <criterion/criterion.h>

namespace varve {
namespace {

constexpr uint64_t kMs = 1'000'000;

/// A wait of 3 ms known alone, beside ten that together took `ms`.
analyze::WaitSum alone_and_ten(uint64_t ms) {
  load::Wait alone, ten;
  ten.count = 10;
  analyze::WaitSum sum, whole;
  sum.add({0, 3 * kMs, 1, {}}, alone);
  sum.add({1, ms * kMs, 10, {}}, ten);
  whole.add(sum);
  return whole;
}

Test(waits, the_longest_is_unknown_where_others_were_longer_in_the_mean) {
  cr_expect_eq(alone_and_ten(29).longest_ns(), 3 * kMs);
  cr_expect_eq(alone_and_ten(31).longest_ns(), 0u);
  cr_expect_eq(alone_and_ten(31).count, 11u);
}

}  // namespace
}  // namespace varve
