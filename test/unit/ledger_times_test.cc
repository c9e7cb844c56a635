// SPDX-License-Identifier: MIT
// When time without a sample was used: rows in pieces where the observer saw the thread run. Context: tests.
#include <criterion/criterion.h>

#include <vector>

#include "test/unit/time_units.h"
#include "viewer/load/ledger_times.h"

using namespace varve;
using namespace varve::load;

namespace {

/// A thread that lives for a second and runs in the first half of each tenth.
struct RunsInTenths {
  Profile profile;
  std::vector<ThreadFacts> facts{1};

  RunsInTenths() {
    profile.threads.resize(1);
    profile.threads[0].process = {0};
    profile.processes.resize(2);
    profile.threads[0].track = {0};
    profile.run_states.source = RunStates::Source::kSwitches;
    profile.run_states.tracks.resize(1);
    for (uint64_t i = 0; i < 10; ++i) {
      add_event(i * 100 * kMs, RunEvent::kWhole);
      add_event((i * 100 + 50) * kMs, 0);
    }
    profile.run_states.end = {1000 * kMs};
  }

  void add_event(uint64_t time_ns, uint16_t running) {
    RunEvent event;
    event.time_ns = time_ns;
    event.track = {0};
    event.running = running;
    profile.run_states.events.push_back(event);
  }

  std::vector<LedgerRow> place(SpecialSite kind, uint64_t weight_ns) const {
    return place_in_time(profile, facts, {{{0}, {1000 * kMs}, {weight_ns}, {7}, kind}});
  }
};

uint64_t sum_between(const std::vector<LedgerRow>& rows, uint64_t after_ms, uint64_t until_ms) {
  uint64_t sum = 0;
  for (const LedgerRow& row : rows)
    if (row.time.count > after_ms * kMs && row.time.count <= until_ms * kMs) sum += row.weight.count;
  return sum;
}

constexpr uint64_t kAll = 1'000'000'007;

void expect_near(uint64_t got, uint64_t wanted) {
  cr_expect(got + 20 > wanted && got < wanted + 20, "%lu, not %lu", got, wanted);
}

}  // namespace

Test(ledger_times, residual_stands_where_the_thread_ran) {
  RunsInTenths world;
  const auto rows = world.place(SpecialSite::kResidual, kAll);
  cr_expect_eq(sum_between(rows, 0, 1000), kAll);
  cr_expect_leq(rows.size(), 65);
  for (uint64_t tenth = 0; tenth < 1000; tenth += 100) {
    expect_near(sum_between(rows, tenth, tenth + 50), kAll / 10);
    cr_expect_eq(sum_between(rows, tenth + 50, tenth + 100), 0);
  }
  for (const LedgerRow& row : rows) cr_expect(row.path == PathId{7} && row.kind == SpecialSite::kResidual);
}

Test(ledger_times, residual_comes_after_the_last_sample) {
  RunsInTenths world;
  world.facts[0].last_sample = {725 * kMs};
  const auto rows = world.place(SpecialSite::kResidual, kAll);
  cr_expect_eq(sum_between(rows, 0, 725), 0);
  expect_near(sum_between(rows, 725, 750), kAll / 5);
  expect_near(sum_between(rows, 900, 950), kAll * 2 / 5);
}

/// Not when it stopped: the level of that moment is that of the others.
Test(ledger_times, what_is_short_stands_in_the_middle_of_it) {
  RunsInTenths world;
  world.facts[0].last_sample = {944 * kMs};
  const auto rows = world.place(SpecialSite::kResidual, kMs);
  cr_assert_eq(rows.size(), 1);
  cr_expect_eq(rows[0].time.count, 947 * kMs);
}

Test(ledger_times, paused_time_lies_in_pauses) {
  RunsInTenths world;
  // Of the run, and of two processes.
  world.profile.pauses = {{ProcessId::none(), {200 * kMs}, {300 * kMs}},
                          {{1}, {500 * kMs}, {600 * kMs}},
                          {{0}, {600 * kMs}, {2000 * kMs}}};
  const auto rows = world.place(SpecialSite::kPaused, kAll);
  cr_expect_eq(sum_between(rows, 0, 1000), kAll);
  expect_near(sum_between(rows, 200, 250), kAll / 5);
  expect_near(sum_between(rows, 600, 1000), kAll * 4 / 5);
  cr_expect_eq(sum_between(rows, 300, 600), 0);
}

Test(ledger_times, paused_time_of_an_unobserved_thread_is_as_long_as_the_pauses) {
  RunsInTenths world;
  world.profile.threads[0].track = TrackId::none();
  world.profile.pauses = {{ProcessId::none(), {0}, {100 * kMs}},
                          {ProcessId::none(), {700 * kMs}, {1000 * kMs}}};
  const auto rows = world.place(SpecialSite::kPaused, kAll);
  cr_expect_eq(sum_between(rows, 0, 1000), kAll);
  expect_near(sum_between(rows, 0, 100), kAll / 4);
  cr_expect_eq(world.place(SpecialSite::kResidual, kAll).size(), 1, "nobody knows when");
}

/// Not when the process was forked, nor when its agent began.
Test(ledger_times, start_up_stands_where_its_thread_ran_until_the_agent_began) {
  RunsInTenths world;
  world.profile.threads[0].start_time = {110 * kMs};
  world.profile.threads[0].told_start = {230 * kMs};
  const auto rows = world.place(SpecialSite::kStartUp, kAll);
  cr_expect_eq(sum_between(rows, 110, 230), kAll);
  expect_near(sum_between(rows, 110, 150), kAll * 4 / 7);
  expect_near(sum_between(rows, 200, 230), kAll * 3 / 7);
}

Test(ledger_times, other_rows_stay_where_they_are) {
  RunsInTenths world;
  for (const SpecialSite kind : {SpecialSite::kLost, SpecialSite::kStartUp, SpecialSite::kPaused})
    cr_expect_eq(world.place(kind, kAll).size(), 1);
  cr_expect_eq(sum_between(world.place(SpecialSite::kResidual, 3), 0, 1000), 3);
  cr_expect_eq(sum_between(world.place(SpecialSite::kResidual, INT64_MAX), 0, 1000), uint64_t(INT64_MAX));
}

Test(ledger_times, pauses_and_looks_have_a_limit) {
  RunsInTenths world;
  for (uint64_t i = 0; i < 100'000; ++i)
    world.profile.pauses.push_back({ProcessId::none(), {i * 10'000}, {i * 10'000 + 1}});
  const auto rows = world.place(SpecialSite::kPaused, kAll);
  cr_expect_eq(sum_between(rows, 0, 1000), kAll);
  cr_expect_leq(rows.size(), 200);
}
