// SPDX-License-Identifier: MIT
// What first ticks stand for: residual time at their places. Context: tests.
#include <criterion/criterion.h>

#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "common/session_keys.h"
#include "test/unit/time_units.h"
#include "viewer/load/first_ticks.h"

using namespace varve;
using namespace varve::load;

namespace {

constexpr uint64_t kInterval = 10 * kMs;
constexpr PathId kRow{1};  // of residual time; 2, 3 and 4 are what a thread does in turn
constexpr SiteId kMain{}, kWorker{7};

/// Threads as the loader has them before the rows of the ledger are placed.
struct ShortThreads {
  Profile profile;
  std::vector<ThreadFacts> facts;
  std::vector<LedgerRow> rows;
  std::array<double, 5> told{};  // by path: samples

  ShortThreads() {
    profile.session.interval = {kInterval};
    profile.session.texts = {{session_key::kFirstTimer, "cpu"}, {session_key::kKernelTickNs, "4000000"}};
    profile.processes.resize(2);
    profile.processes[0].exe = "/bin/a";
    profile.processes[1].exe = "/bin/b";
  }

  /// A thread of that length with a tick each interval from `first` on, which does three things in turn.
  Thread& add(uint64_t length, uint64_t first, SiteId start = kWorker) {
    Thread& thread = profile.threads.emplace_back();
    ThreadFacts& mine = facts.emplace_back();
    thread.process = {0};
    mine.start_routine = start;
    uint64_t last = 0;
    for (uint64_t tick = first; tick < length; last = tick, tick += kInterval) {
      const PathId path{uint32_t(2 + 3 * tick / length)};
      told[path.value] += double(tick - last);
      if (thread.samples++ == 0) mine.first_path = path, mine.first_weight = {tick};
    }
    thread.sampled = thread.last_cpu = {last};
    rows.push_back(
        {{uint32_t(profile.threads.size() - 1)}, {kSecond}, {length - last}, kRow, SpecialSite::kResidual});
    return thread;
  }

  std::vector<LedgerRow> place() { return place_at_first_ticks(profile, facts, rows); }

  /// Of a thread's rows.
  uint64_t placed(const std::vector<LedgerRow>& all, uint32_t thread, bool at_functions) const {
    uint64_t sum = 0;
    for (const LedgerRow& row : all)
      if (row.thread == ThreadId{thread} && (row.path != kRow) == at_functions) sum += row.weight.count;
    return sum;
  }

  void expect_untouched() {
    const std::vector<LedgerRow> all = place();
    cr_assert_eq(all.size(), rows.size());
    for (size_t i = 0; i < all.size(); ++i)
      cr_expect(all[i].path == kRow && all[i].weight == rows[i].weight, "row %zu", i);
    cr_expect_eq(profile.residual_placed, Nanos{});
  }
};

}  // namespace

/// Each third of the threads' lives has a third of the time, which samples alone do not say: at 1 ms 11, 33
/// and 56 %. No thread's time changes.
Test(first_ticks, what_threads_do_in_turn_has_its_share) {
  for (const uint64_t length : {kMs, 3 * kMs, 8 * kMs, 15 * kMs, 25 * kMs}) {
    ShortThreads all;
    std::minstd_rand random(5);
    const auto count = uint32_t(20'000 * kMs / length + 2000);
    for (uint32_t i = 0; i < count; ++i) all.add(length, random() % kInterval);
    const std::vector<LedgerRow> rows = all.place();
    std::array<double, 5> told = all.told;
    for (const LedgerRow& row : rows) told[row.path.value] += double(row.weight.count);
    const double functions = told[2] + told[3] + told[4], samples = functions / double(kInterval);
    for (uint32_t path = 2; path < 5; ++path)
      cr_expect_float_eq(told[path] / functions, 1 / 3.0, 4 * std::sqrt(2 / 9.0 / samples),
                         "%lu ms, part %u: %.4f", length / kMs, path - 1, told[path] / functions);
    cr_expect_gt(functions, 0.93 * double(count) * double(length), "%lu ms", length / kMs);
    for (uint32_t i = 0; i < count; ++i)
      cr_assert_eq(all.placed(rows, i, true) + all.placed(rows, i, false), all.rows[i].weight.count);
    cr_expect_eq(double(all.profile.residual_placed.count),
                 functions - all.told[2] - all.told[3] - all.told[4]);
    if (length == kMs) cr_expect_lt(all.told[2], 0.3 * all.told[4], "the test has nothing to mend");
  }
}

Test(first_ticks, threads_of_seconds_stay_as_they_are) {
  ShortThreads all;
  for (uint32_t i = 0; i < 8; ++i) all.add(3 * kSecond + 5 * kMs, 4 * kMs);
  all.expect_untouched();
}

Test(first_ticks, other_threads_and_programs_are_no_donors) {
  ShortThreads all;
  for (uint32_t i = 0; i < 50; ++i) all.add(3 * kMs, 2 * kMs, kWorker);
  for (uint32_t i = 0; i < 50; ++i) all.add(3 * kMs, kInterval, kMain);
  for (uint32_t i = 0; i < 50; ++i) all.add(3 * kMs, kInterval, kWorker).process = {1};
  const std::vector<LedgerRow> rows = all.place();
  for (uint32_t i = 0; i < 150; ++i) cr_expect_eq(all.placed(rows, i, true), i < 50 ? kMs : 0, "%u", i);
}

/// A thread gives to its own first tick before others have any of its time.
Test(first_ticks, own_time_comes_first) {
  ShortThreads all;
  all.add(5 * kMs, 1 * kMs).samples = 100;  // as if of many
  all.add(5 * kMs, kInterval);
  const std::vector<LedgerRow> rows = all.place();
  cr_expect_eq(all.placed(rows, 0, true), 4 * kMs);
  cr_expect_eq(all.placed(rows, 1, true), 5 * kMs);
}

/// Time that ticks could not come in says nothing of those that came; nor do first samples that were no first
/// ticks.
Test(first_ticks, time_without_ticks_stays_residual) {
  for (const int way : {0, 1, 2, 3}) {
    ShortThreads all;
    for (uint32_t i = 0; i < 50; ++i) {
      Thread& thread = all.add(3 * kMs, 2 * kMs);
      if (way == 0) thread.paused = {kMs};
      if (way == 1) thread.last_cpu += {kMs};  // lost samples
      if (way == 2) all.rows.back().weight = {kSecond};
      if (way == 3) all.facts.back().kernel_end = all.rows.back().weight;
    }
    all.expect_untouched();
  }
}

/// Where the kernel's tick is longer than the interval a first tick stands for that; not where it is an
/// event.
Test(first_ticks, timers_expire_on_the_scheduler_s_ticks) {
  for (const bool events : {false, true}) {
    ShortThreads all;
    all.profile.session.interval = {kMs};
    if (events) all.profile.session.texts[0].second = "perf";
    for (uint32_t i = 0; i < 50; ++i) all.add(kMs / 2, kMs / 4), all.add(kMs / 2, kMs), all.add(kMs / 2, kMs);
    const std::vector<LedgerRow> rows = all.place();
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 150; ++i) sum += all.placed(rows, i, true);
    cr_expect_eq(sum, events ? 50 * 3 * kMs / 4 : 50 * 5 * kMs / 4);
  }
}
