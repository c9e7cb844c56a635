// SPDX-License-Identifier: MIT
// Waits in slices, as python's for its interpreter lock: which waits are one, who is charged with them, and
// that the critical path has all of them. Context: tests.
#include "viewer/analyze/wait_slices.h"

#include <criterion/criterion.h>

#include <algorithm>

#include "test/unit/path_builder.h"
#include "test/unit/time_units.h"
#include "viewer/analyze/concurrency.h"
#include "viewer/analyze/counted_waits.h"
#include "viewer/analyze/wait_objects.h"

using namespace varve;
using format::ObjectKind;
using test::PathBuilder;
using RowNumbers = std::vector<uint32_t>;

namespace {

constexpr uint64_t kBaton = 1, kMutex = 2;

/// B waits for the baton in two slices of 5 ms, with a wait for a mutex after the second, and then until A
/// passes it.
PathBuilder two_slices() {
  PathBuilder built(40);
  const ThreadId a = built.thread("A", 0, 40);
  const ThreadId b = built.thread("B", 0, 40, a, 0);
  built.wait(b, ObjectKind::kCondition, kBaton, 10, 15);
  built.wait(b, ObjectKind::kCondition, kBaton, 15.05, 20);
  built.wait(b, ObjectKind::kMutex, kMutex, 20.01, 20.02);
  built.wait(b, ObjectKind::kCondition, kBaton, 20.03, 22);
  for (size_t row : {0, 1}) built.profile().waits.waits[row].timed_out = true;
  built.release(a, ObjectKind::kCondition, kBaton, 21);
  return built;
}

RowNumbers last_of(PathBuilder& built) { return analyze::wait_slices(built.profile()).last; }

analyze::WaitObject baton_of(PathBuilder& built) {
  built.observe();
  const load::Profile& profile = built.profile();
  const auto concurrency = analyze::concurrency(profile, {}, {});
  const auto counted = analyze::counted_waits(profile, {}, concurrency);
  const auto objects = analyze::wait_objects(profile, {}, concurrency, counted);
  const auto baton = std::ranges::find(objects, kBaton, [](const auto& each) { return each.key.address; });
  cr_assert(baton != objects.end());
  return *baton;
}

uint64_t timed_out_ns(const analyze::WaitObject& object) {
  return object.uncaused_ns[size_t(analyze::Uncaused::kTimedOut)];
}

}  // namespace

Test(wait_slices, end_with_the_last) {
  PathBuilder built = two_slices();
  cr_expect(last_of(built) == RowNumbers({3, 3, 2, 3}));
  cr_expect(analyze::wait_slices(built.profile()).first == RowNumbers({0, 0, 2, 0}));
  const analyze::WaitObject baton = baton_of(built);
  cr_assert_eq(baton.holders.size(), 1u);
  cr_expect_eq(baton.holders[0].releases, 1u);
  cr_expect_eq(timed_out_ns(baton), 0u);
  cr_expect_eq(baton.uncaused_ns[size_t(analyze::Uncaused::kAfterRelease)], 1 * kMs);
  cr_expect_eq(baton.holders[0].caused_ns, baton.wait_ns - 1 * kMs);
}

Test(wait_slices, that_nobody_ends_time_out) {
  PathBuilder built = two_slices();
  built.profile().waits.waits[3].timed_out = true;
  const analyze::WaitObject baton = baton_of(built);
  cr_expect_eq(baton.holders.size(), 0u);
  cr_expect_eq(timed_out_ns(baton), baton.wait_ns);
}

Test(wait_slices, are_not_what_only_looks_like_them) {
  PathBuilder built = two_slices();
  load::Wait& second = built.profile().waits.waits[1];
  const load::Wait before = second;
  second.duration_ns -= kMs / 2;
  cr_expect(last_of(built) == RowNumbers({0, 3, 2, 3}), "it worked in between");
  second = before, second.duration_ns = 15 * kMs;
  cr_expect(last_of(built) == RowNumbers({1, 1, 2, 3}), "a limit of a timer");
  second = before, second.creation = 1;
  cr_expect(last_of(built) == RowNumbers({0, 1, 2, 3}), "another object at the same address");
  second = before, second.timed_out = false;
  cr_expect(last_of(built) == RowNumbers({1, 1, 2, 3}), "somebody ended it");
  second = before;
  for (load::Wait& wait : built.profile().waits.waits) wait.kind = ObjectKind::kMutex;
  cr_expect(last_of(built) == RowNumbers({0, 1, 2, 3}), "who has a lock is charged in another way");
}

/// Who stops a ticker at last has not kept it waiting since it began.
Test(wait_slices, are_a_second_long_at_most) {
  PathBuilder built(5000);
  const ThreadId ticker = built.thread("ticker", 0, 5000);
  for (int i = 0; i < 1000; ++i) built.wait(ticker, ObjectKind::kCondition, kBaton, i * 5 + 0.02, i * 5 + 5);
  auto& waits = built.profile().waits.waits;
  for (size_t i = 0; i + 1 < waits.size(); ++i) waits[i].timed_out = true;
  const auto slices = analyze::wait_slices(built.profile());
  cr_expect_eq(slices.last[0], 199u, "nobody ended that one");
  cr_expect_eq(slices.last[799], 799u);
  cr_expect_eq(slices.last[800], 999u);
  cr_expect_eq(slices.first[999], 800u);
}

/// Who has what another waits for delays it from the first slice on.
Test(wait_slices, are_impact_on_the_critical_path) {
  PathBuilder built(40);
  const ThreadId main = built.thread("main", 0, 40);
  const ThreadId a = built.thread("A", 0, 30, main, 0);
  for (const double begin : {10., 15.}) built.wait(main, ObjectKind::kCondition, kBaton, begin, begin + 5);
  for (load::Wait& wait : built.profile().waits.waits) wait.timed_out = true;
  built.wait(main, ObjectKind::kCondition, kBaton, 20, 21);
  built.release(a, ObjectKind::kCondition, kBaton, 20.5);
  const std::string got = test::words(built.profile(), built.path());
  cr_expect(got == "0-10 Cruise A, 10-20.5 Impact A, 20.5-21 Overhead A to main, 21-40 Cruise main", "got %s",
            got.c_str());
}
