// SPDX-License-Identifier: MIT
// What first ticks stand for: residual time at their places. Context: tests.
#include <criterion/criterion.h>

#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "common/session_keys.h"
#include "test/unit/profile_builder.h"
#include "test/unit/time_units.h"
#include "viewer/load/first_ticks.h"

using namespace varve;
using namespace varve::load;
using namespace varve::test;

namespace {

constexpr uint64_t kInterval = 10 * kMs;
constexpr PathId kNoFrame{0}, kRow{1};  // of residual time; 2, 3 and 4 are what a thread does in turn
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
    const SiteId code{0}, special{1};
    profile.sites = {{{0}, {0x1000}}, {{}, {uint64_t(SpecialSite::kResidual)}}};
    profile.paths = {{}, {{0}, special}, {{0}, code}, {{0}, code}, {{0}, code}};
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
    thread.end_cpu = {length};
    rows.push_back(
        {{uint32_t(profile.threads.size() - 1)}, {kSecond}, {length - last}, kRow, SpecialSite::kResidual});
    return thread;
  }

  std::vector<LedgerRow> place() { return place_at_first_ticks(profile, facts, rows); }

  struct Sums {
    uint64_t placed = 0, all = 0;
  };
  /// By thread.
  std::vector<Sums> sums_of(const std::vector<LedgerRow>& placed) const {
    std::vector<Sums> sums(profile.threads.size());
    for (const LedgerRow& row : placed) {
      Sums& sum = sums[row.thread.index()];
      sum.all += row.weight.count;
      if (row.path != kRow) sum.placed += row.weight.count;
    }
    return sums;
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
    const auto sums = all.sums_of(rows);
    for (uint32_t i = 0; i < count; ++i) cr_assert_eq(sums[i].all, all.rows[i].weight.count);
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
  const auto sums = all.sums_of(all.place());
  for (uint32_t i = 0; i < 150; ++i) cr_expect_eq(sums[i].placed, i < 50 ? kMs : 0, "%u", i);
}

/// A thread gives to its own first tick before others have any of its time: of 9 and 4 ms of residual their
/// ticks lack 1 and 9.
Test(first_ticks, own_time_comes_first) {
  ShortThreads all;
  all.add(18 * kMs, 9 * kMs).samples = 100;  // as if of many
  all.add(5 * kMs, 1 * kMs);
  all.facts[0].first_path = {2};
  all.facts[1].first_path = {3};
  uint64_t to_others = 0;
  for (const LedgerRow& row : all.place())
    if (row.path != kRow && row.path != all.facts[row.thread.index()].first_path)
      to_others += row.weight.count;
  cr_expect_eq(to_others, 5 * kMs);
  cr_expect_eq(all.profile.residual_placed, Nanos{10 * kMs});
}

/// Time that ticks could not come in says nothing of those that came; nor do first samples that were no first
/// ticks.
Test(first_ticks, time_without_ticks_stays_residual) {
  for (int way = 0; way < 7; ++way) {
    ShortThreads all;
    for (uint32_t i = 0; i < 50; ++i) {
      Thread& thread = all.add(3 * kMs, 2 * kMs);
      if (way == 0) thread.paused = {kMs};
      if (way == 1) thread.last_cpu += {kMs};  // lost samples
      if (way == 2) all.rows.back().weight = {kSecond};
      if (way == 3) all.facts.back().kernel_end = all.rows.back().weight;
      if (way == 4) thread.end_cpu = {};  // killed
      if (way == 5) all.facts.back().first_path = kNoFrame;
      if (way == 6) all.facts.back().first_path = kRow;  // a stack that could not be followed
    }
    all.expect_untouched();
  }
}

/// Rows in pieces, as they are where the thread ran: what the kernel took for its end is the last of them.
Test(first_ticks, the_end_in_the_kernel_is_the_last_piece) {
  ShortThreads all;
  for (uint32_t i = 0; i < 50; ++i) {
    all.add(3 * kMs, 1 * kMs);
    all.facts.back().kernel_end = {kMs / 2};
    all.rows.back().weight = {kMs};
    all.rows.push_back({{i}, {kSecond + kMs}, {kMs}, kRow, SpecialSite::kResidual});
  }
  for (const LedgerRow& row : all.place())
    cr_expect(row.time == Nanos{kSecond} ? row.path != kRow && row.weight == Nanos{kMs}
                                         : row.weight == Nanos{kMs / 2});
  cr_expect_eq(all.profile.residual_placed, Nanos{75 * kMs});
}

/// Where the kernel's tick is longer than the interval a first tick stands for that; not where it is an
/// event.
Test(first_ticks, timers_expire_on_the_scheduler_s_ticks) {
  for (const bool events : {false, true}) {
    ShortThreads all;
    all.profile.session.interval = {kMs};
    if (events) all.profile.session.texts[0].second = "perf";
    for (uint32_t i = 0; i < 50; ++i) all.add(kMs / 2, kMs / 4), all.add(kMs / 2, kMs), all.add(kMs / 2, kMs);
    all.place();
    cr_expect_eq(all.profile.residual_placed.count, events ? 50 * 3 * kMs / 4 : 50 * 5 * kMs / 4);
  }
}

/// Threads of 12 ms have a tick of their timer each 4 ms until they have used as much, with what they had
/// used before; then an event each millisecond.
void expect_even(uint64_t start_cpu) {
  Session session;
  session.interval = {kMs};
  session.texts = {{session_key::kFirstTimer, "cpu"},
                   {session_key::kTimer, "perf"},
                   {session_key::kKernelTickNs, "4000000"}};
  const EarlyTicks early = early_ticks(session);
  std::minstd_rand random(3);
  std::array<double, 12> told{};  // by ms of the thread's life
  constexpr int kTrials = 20'000;
  for (int thread = 0; thread < kTrials; ++thread) {
    ThreadFacts facts;
    Thread row;
    row.start_cpu = {start_cpu};
    uint64_t last = 0, first = random() % (4 * kMs);
    const auto next = [&](uint64_t tick) {
      return start_cpu + tick < 4 * kMs ? 4 * kMs : kMs / 2 + random() % kMs;
    };
    for (uint64_t tick = first; tick < 12 * kMs; last = tick, tick += next(tick)) {
      const uint64_t part = early_part(row, facts, early, last, tick - last);
      note_first(facts, tick, tick - last, {2}, 0);
      told[tick / kMs] += double(tick - last - part);
      told[first / kMs] += double(part);
    }
    const double lacks = double(4 * kMs) - double(facts.first_weight.count);
    told[first / kMs] += std::min(lacks, double(12 * kMs - last));
  }
  for (int i = 0; i < 12; ++i)
    cr_expect_float_eq(told[size_t(i)] / kMs / kTrials, 1, 0.1, "%lu ms before, %d ms: %.3f", start_cpu / kMs,
                       i, told[size_t(i)] / kMs / kTrials);
}

/// What they do early has its share, too.
Test(first_ticks, events_that_come_after_the_first_tick) {
  expect_even(0);
  expect_even(6 * kMs);
}

/// Weights move within a thread, and the file of decoded samples has them as they were moved.
Test(first_ticks, early_events_give_to_the_first_sample) {
  ProfileBuilder builder;
  const size_t process = builder.add_process(1);
  builder.add_thread(process, 1);
  builder.add_thread(process, 2);
  builder.add_text(session_key::kFirstTimer, "cpu");
  builder.add_text(session_key::kTimer, "perf");
  builder.add_text(session_key::kKernelTickNs, "4000000");
  builder.add_text(session_key::kIntervalNs, "1000000");
  for (const uint64_t weight : {kMs, 4 * kMs, kMs, kMs, kMs, kMs})
    builder.add_sample(process, 1, {0x1000}, weight);
  const Profile profile = builder.load();
  std::vector<uint64_t> weights;
  for (size_t row = 0; row < profile.samples.size(); ++row)
    if (profile.samples.ticks[row]) weights.push_back(profile.samples.weight_ns[row]);
  // Up to 8 ms: of the third to the fifth.
  cr_expect(weights == (std::vector<uint64_t>{4 * kMs, 4 * kMs, 0, 0, 0, kMs}));
  cr_expect_eq(profile.sampled, Nanos{9 * kMs});
}

Test(first_ticks, ticks_of_one_kind_keep_their_time) {
  Session session;
  session.interval = {kMs};
  session.texts = {{session_key::kFirstTimer, "cpu"},
                   {session_key::kTimer, "cpu"},
                   {session_key::kKernelTickNs, "4000000"}};
  cr_expect_eq(early_ticks(session).until, Nanos{});
  session.texts[0].second = session.texts[1].second = "perf";
  cr_expect_eq(early_ticks(session).until, Nanos{});
  session.texts[0].second = "cpu";
  session.interval = {kInterval};
  cr_expect_eq(early_ticks(session).until, Nanos{});
}
