// SPDX-License-Identifier: MIT
// When the handler's share of a thread's CPU time makes its interval longer.
#include "agent/signal/self_limit.h"

#include <criterion/criterion.h>

#include "test/unit/time_units.h"

using varve::kMs;
using varve::agent::SelfLimit;

namespace {

/// Ticks of `took_ns` each, `apart_ns` from one's begin to the next's; how often the interval was doubled.
unsigned doubled(SelfLimit& limit, unsigned ticks, uint64_t apart_ns, uint64_t took_ns) {
  unsigned times = 0;
  for (uint64_t i = 0; i < ticks; ++i) times += limit.exceeded_by((i + 1) * apart_ns, took_ns, apart_ns);
  return times;
}

}  // namespace

Test(self_limit, leaves_cheap_samples_alone) {
  SelfLimit limit;
  cr_assert_eq(doubled(limit, 10'000, kMs, kMs / 60), 0);
  cr_assert_eq(limit.doublings(), 0);
}

Test(self_limit, doubles_beyond_two_percent) {
  SelfLimit limit;
  cr_assert_eq(doubled(limit, 63, kMs, kMs / 40), 0);
  cr_assert_eq(doubled(limit, 1, 64 * kMs, kMs / 40), 1);
  cr_assert_eq(limit.doublings(), 1);
}

Test(self_limit, leaves_a_tick_twenty_microseconds_where_ticks_come_often) {
  SelfLimit limit;
  cr_assert_eq(doubled(limit, 10'000, kMs / 10, 18'000), 0);
  cr_assert_eq(doubled(limit, 1280, kMs / 10, 25'000), 2);
}

Test(self_limit, forgives_a_costly_begin) {
  SelfLimit limit;
  cr_assert(!limit.exceeded_by(0, kMs / 4, 10 * kMs));
  cr_assert_eq(doubled(limit, 1000, kMs, kMs / 100), 0);
}

Test(self_limit, leaves_out_one_tick_that_was_held_up) {
  for (uint64_t held_up_ns : {kMs / 2, 20 * kMs}) {
    SelfLimit limit;
    cr_assert(!limit.exceeded_by(kMs, held_up_ns, kMs));
    cr_assert_eq(doubled(limit, 1000, kMs, 15'000), 0);
  }
}

Test(self_limit, does_not_wait_where_hardly_anything_else_goes_on) {
  SelfLimit limit;
  cr_assert_eq(doubled(limit, 4, kMs, kMs), 1);
  cr_assert_eq(doubled(limit, 8, kMs, kMs), 2);
}

Test(self_limit, has_an_end) {
  SelfLimit limit;
  doubled(limit, 1000, kMs, kMs);
  cr_assert_eq(limit.doublings(), varve::format::kMostIntervalDoublings);
}
