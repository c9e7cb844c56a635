// SPDX-License-Identifier: MIT
// Who has an event at intervals from the kernel's tick on: by numbers that were measured of programs, and at
// the bounds. Context: tests.
#include "agent/signal/step_rule.h"

#include <criterion/criterion.h>

#include "test/unit/time_units.h"

namespace varve {
namespace {

using agent::StepEvidence;
using agent::Suits;

/// 40 ms by a timer of 10 ms that had as many ticks as were due.
StepEvidence evidence(uint64_t switches, uint64_t voluntary) {
  return {.interval_ns = 10 * kMs,
          .cpu_ns = 40 * kMs,
          .switches = switches,
          .voluntary = voluntary,
          .timer_cpu_ns = 1000 * kMs,
          .ticks = 100};
}

Suits judge(const StepEvidence& seen, bool in_step = false) { return agent::judge_step(seen, in_step); }

Test(step_rule, who_waits_often_has_an_event_where_that_is_cheap) {
  cr_expect(judge(evidence(17, 17)) == Suits::kEvent, "4.8 of each 8 ms, or 2.4 of each 4");
  cr_expect(judge(evidence(2, 2)) == Suits::kEvent);
  cr_expect(judge(evidence(1, 1)) == Suits::kTimer, "once in four intervals");
  cr_expect(judge(evidence(60, 0)) == Suits::kTimer, "only pushed off by others");
  cr_expect(judge(evidence(66, 66)) == Suits::kEvent);
  cr_expect(judge(evidence(67, 67)) == Suits::kTimer, "0.5 %% of 40 ms are 66.7 switches of 3 us");
}

Test(step_rule, an_event_stays_until_its_thread_hardly_waits) {
  StepEvidence seen = evidence(1, 1);
  seen.by_timer = false;
  cr_expect(judge(seen) == Suits::kEvent);
  seen.voluntary = 0;
  cr_expect(judge(seen) == Suits::kTimer);
  for (const uint64_t switches : {67u, 133u, 134u}) {
    seen = evidence(switches, switches);
    seen.by_timer = false;
    cr_expect(judge(seen) == (switches == 134 ? Suits::kTimer : Suits::kEvent), "1 %% of 40 ms");
  }
}

Test(step_rule, ticks_out_of_proportion_allow_more) {
  for (const uint64_t ticks : {24u, 401u}) {
    StepEvidence seen = evidence(300, 300);
    cr_expect(judge(seen) == Suits::kTimer);
    seen.ticks = ticks;
    bool in_step = false;
    cr_expect(agent::judge_step(seen, in_step) == Suits::kEvent, "of 100");
    cr_expect(in_step);
    seen.by_timer = false, seen.timer_cpu_ns = 0;
    cr_expect(agent::judge_step(seen, in_step) == Suits::kEvent, "as long as it costs no more than 4 %%");
    seen.switches = 534;
    cr_expect(agent::judge_step(seen, in_step) == Suits::kTimer);
    cr_expect_not(in_step);
  }
  StepEvidence few = evidence(300, 300);
  few.timer_cpu_ns = 310 * kMs, few.ticks = 0;
  cr_expect(judge(few) == Suits::kTimer, "31 due are too few to tell");
}

}  // namespace
}  // namespace varve
