// SPDX-License-Identifier: MIT
// When a program is said to work in step with the kernel's tick.
#include "viewer/load/tick_phase.h"

#include <criterion/criterion.h>

#include "common/session_keys.h"
#include "test/unit/time_units.h"

using varve::kMs;
using varve::Nanos;
using varve::load::Profile;
using varve::load::works_in_step;

namespace {

/// One thread of so many ms of CPU time, whose timer expired so often.
Profile ran(uint64_t cpu_ms, uint64_t expirations, uint64_t interval_ms = 10) {
  Profile profile;
  profile.session.interval = {interval_ms * kMs};
  profile.session.texts = {{varve::session_key::kTimer, "cpu"},
                           {varve::session_key::kKernelTickNs, "4000000"}};
  profile.processes.emplace_back();
  profile.threads.emplace_back();
  profile.threads[0].process = {0};
  profile.threads[0].end_cpu = {cpu_ms * kMs};
  profile.threads[0].ticks = expirations;
  return profile;
}

}  // namespace

Test(tick_phase, is_not_said_of_what_chance_does) {
  cr_assert(!works_in_step(ran(10'000, 1000)));
  cr_assert(!works_in_step(ran(10'000, 900)));
  cr_assert(!works_in_step(ran(10'000, 1250)));
  cr_assert(!works_in_step(ran(100, 0)));
  cr_assert(!works_in_step(ran(20, 0, 1)),
            "within a few of the kernel's ticks, twenty intervals are nothing");
}

Test(tick_phase, is_said_of_ticks_that_miss_or_always_meet) {
  cr_assert(works_in_step(ran(10'000, 0)));
  cr_assert(works_in_step(ran(10'000, 1667)));
  cr_assert(works_in_step(ran(1'200, 2'000, 1)));
}

Test(tick_phase, is_not_said_where_expirations_were_not_all_due) {
  Profile events = ran(10'000, 0), stopped = events, slowed = events, unsampled = events;
  events.session.texts[0].second = "perf";
  cr_assert(!works_in_step(events));
  stopped.session.texts.emplace_back(varve::session_key::kStopReason, "duration");
  cr_assert(!works_in_step(stopped));
  slowed.threads[0].interval_doublings = 1;
  cr_assert(!works_in_step(slowed));
  unsampled.threads[0].no_timer = true;
  cr_assert(!works_in_step(unsampled));
}
