// SPDX-License-Identifier: MIT
// WaitSum: what is said of waits of which some are known alone and others by their sum only. Context: tests.
#include "viewer/analyze/wait_sums.h"

#include <criterion/criterion.h>

#include "test/unit/time_units.h"

namespace varve {
namespace {

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

/// With a range of time some waits end after it: they have time in it, and are no part of the mean.
Test(waits, the_mean_is_of_the_waits_that_are_counted) {
  const load::Wait wait;
  analyze::WaitSum sum;
  sum.add({0, 2 * kMs, 1, {}}, wait);
  sum.add({1, 4 * kMs, 1, {}}, wait);
  sum.add({2, 90 * kMs, 0, {}}, wait);
  cr_expect_eq(sum.wait_ns, 96 * kMs);
  cr_expect_eq(sum.mean_ns(), 3 * kMs);
  cr_expect_eq(sum.longest_ns(), 90 * kMs);
  analyze::WaitSum none;
  none.add({2, 90 * kMs, 0, {}}, wait);
  cr_expect_eq(none.mean_ns(), 0u);
}

/// Pieces that an observer added up may come out as one wait, or as none that ended.
Test(waits, a_sum_of_pieces_is_no_wait_alone) {
  load::Wait pieces;
  pieces.in_pieces = true;
  analyze::WaitSum sum;
  sum.add({0, 5 * kMs, 1, {}}, pieces);
  cr_expect_eq(sum.longest_ns(), 0u);
  cr_expect_eq(sum.mean_ns(), 5 * kMs);
}

}  // namespace
}  // namespace varve
