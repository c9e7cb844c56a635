// SPDX-License-Identifier: MIT
// Waits: they add up to the Wait of threads whatever the filter, bands are those of their moments, and who
// released an object is charged with what others waited for it meanwhile. Context: tests.
#include <criterion/criterion.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "common/session_keys.h"
#include "test/unit/two_threads.h"
#include "viewer/analyze/band_moments.h"
#include "viewer/analyze/releasers.h"
#include "viewer/analyze/select_waits.h"
#include "viewer/analyze/thread_states.h"
#include "viewer/analyze/wait_objects.h"

namespace varve {
namespace {

using analyze::Band;
using analyze::Uncaused;
using format::ObjectKind;
using test::concurrency_of;
using test::RandomProfile;
using test::two_threads;
using varve::kMs;

Test(waits, only_what_was_blocked_counts) {
  RandomProfile made = two_threads();
  // The hook's clock saw 2 ms more on each side.
  made.profile.waits.waits = {{42 * kMs, 34 * kMs, 0x10, {1}, {0}, 1, ObjectKind::kMutex}};
  const auto counted = analyze::counted_waits(made.profile, {}, concurrency_of(made.profile));
  cr_assert_eq(counted.size(), 1u);
  cr_expect_eq(counted[0].time_ns, 30 * kMs);
  cr_expect_eq(counted[0].count, 1u);
  // One thread of two active: half of the target is Poor. In the 4 ms with both nobody was blocked.
  cr_expect_eq(counted[0].bands[size_t(Band::kPoor)], 30 * kMs);
  cr_expect_eq(counted[0].bands[size_t(Band::kIdeal)], 0u);
}

/// Two threads run on while one of them reads: no wait, whether a range cuts the read or not.
Test(waits, a_read_that_kept_its_processor_is_no_wait_in_any_range) {
  RandomProfile made = two_threads();
  made.profile.waits.waits = {{9 * kMs, 8 * kMs, 5, {1}, {0}, 1, ObjectKind::kDescriptor},
                              {30 * kMs, 25 * kMs, 6, {1}, {0}, 1, ObjectKind::kDescriptor}};
  for (const analyze::TimeRange range : {analyze::TimeRange{}, {4 * kMs, 12 * kMs}, {8 * kMs, 50 * kMs}}) {
    for (const auto& each : analyze::counted_waits(made.profile, range, concurrency_of(made.profile)))
      cr_expect_eq(each.row, 1u);
  }
}

Test(waits, a_sum_counts_where_its_last_wait_was_and_not_where_that_had_ended) {
  RandomProfile made = two_threads();
  // The hook tells its end 1 us after the thread went on; until then the other ran alone.
  made.profile.waits.waits = {{40 * kMs + 1000, 20 * kMs, 0x10, {1}, {0}, 10, ObjectKind::kSemaphore}};
  const auto counted = analyze::counted_waits(made.profile, {}, concurrency_of(made.profile));
  cr_assert_eq(counted.size(), 1u);
  cr_expect_eq(counted[0].time_ns, 20 * kMs);
  cr_expect_geq(counted[0].bands[size_t(Band::kPoor)], 19 * kMs);
  cr_expect_leq(counted[0].bands[size_t(Band::kIdeal)], kMs / 10);
}

uint64_t uncaused(const analyze::WaitObject& object, Uncaused reason) {
  return object.uncaused_ns[size_t(reason)];
}

Test(waits, a_holder_is_charged_until_its_release) {
  RandomProfile made = two_threads();
  made.profile.waits.waits = {{40 * kMs, 30 * kMs, 0x10, {1}, {0}, 1, ObjectKind::kMutex}};
  made.profile.waits.releases = {{5 * kMs, 0, 0x10, {0}, {0}, 1, ObjectKind::kMutex},
                                 {20 * kMs, 0, 0x10, {0}, {0}, 1, ObjectKind::kMutex},
                                 {25 * kMs, 0, 0x20, {0}, {0}, 1, ObjectKind::kMutex},
                                 {39 * kMs, 0, 0x10, {0}, {0}, 3, ObjectKind::kMutex}};
  const auto counted = analyze::counted_waits(made.profile, {}, concurrency_of(made.profile));
  const auto objects = analyze::wait_objects(made.profile, {}, concurrency_of(made.profile), counted);
  cr_assert_eq(objects.size(), 1u);
  cr_assert_eq(objects[0].holders.size(), 1u);
  cr_expect_eq(objects[0].holders[0].releases, 2u);
  cr_expect_eq(objects[0].holders[0].caused_ns, 29 * kMs, "the wake-up is nobody's");
  cr_expect_eq(objects[0].holders[0].most_waiters, 3u);
}

/// Two held the lock in turn; the range begins when the second has it, and ends before that lets go.
Test(waits, a_holder_is_charged_for_what_lies_in_the_range) {
  RandomProfile made = two_threads();
  made.profile.threads.push_back(made.profile.threads[0]);
  made.profile.waits.waits = {{40 * kMs, 30 * kMs, 0x10, {1}, {0}, 1, ObjectKind::kMutex}};
  made.profile.waits.releases = {{18 * kMs, 0, 0x10, {2}, {0}, 1, ObjectKind::kMutex},
                                 {32 * kMs, 0, 0x10, {0}, {0}, 1, ObjectKind::kMutex},
                                 {38 * kMs, 0, 0x10, {2}, {0}, 1, ObjectKind::kMutex}};
  const analyze::TimeRange range{20 * kMs, 30 * kMs};
  const auto counted = analyze::counted_waits(made.profile, range, concurrency_of(made.profile));
  const auto objects = analyze::wait_objects(made.profile, range, concurrency_of(made.profile), counted);
  cr_assert_eq(objects.size(), 1u);
  cr_expect_eq(objects[0].wait_ns, 10 * kMs);
  cr_assert_eq(objects[0].holders.size(), 1u);
  cr_expect(objects[0].holders[0].thread == ThreadId{0});
  cr_expect_eq(objects[0].holders[0].caused_ns, 10 * kMs);
  cr_expect_eq(objects[0].holders[0].releases, 0u, "it let go after the range");
}

/// Two had the lock in turn. While no thread was active it was the second, so only that one is charged there.
Test(waits, a_holder_is_charged_in_the_bands_in_which_it_had_the_lock) {
  RandomProfile made = two_threads();
  made.profile.threads.push_back(made.profile.threads[0]);
  made.profile.threads[2].track = TrackId::none();
  made.profile.waits.waits = {{40 * kMs, 30 * kMs, 0x10, {1}, {0}, 1, ObjectKind::kMutex}};
  made.profile.waits.releases = {{20 * kMs, 0, 0x10, {0}, {0}, 1, ObjectKind::kMutex},
                                 {38 * kMs, 0, 0x10, {2}, {0}, 1, ObjectKind::kMutex}};
  for (const auto& [ms, running] : {std::pair(25, uint16_t(0)), std::pair(38, load::RunEvent::kWhole)}) {
    load::RunEvent event;
    event.time_ns = uint64_t(ms) * kMs;
    event.track = {0};
    event.running = running;
    made.profile.run_states.events.push_back(event);
  }
  std::ranges::stable_sort(made.profile.run_states.events, {}, &load::RunEvent::time_ns);
  const std::array<std::array<uint64_t, 2>, 2> caused = {
      {{0, 13}, {10, 5}}};  // Idle, Poor; ms of each holder
  for (const Band band : {Band::kIdle, Band::kPoor}) {
    analyze::BandSet one{};
    one[size_t(band)] = true;
    const auto concurrency = concurrency_of(made.profile);
    const auto moments = analyze::band_moments(made.profile, made.symbols, {}, concurrency, one);
    cr_assert_eq(moments.objects.size(), 1u);
    std::array<uint64_t, 2> found{};
    for (const analyze::Holder& holder : moments.objects[0].holders)
      found[holder.thread == ThreadId{2}] += holder.caused_ns;
    cr_expect_eq(found[0], caused[band == Band::kPoor][0] * kMs);
    cr_expect_eq(found[1], caused[band == Band::kPoor][1] * kMs);
  }
}

/// Somebody else was let go on meanwhile. Of a lock who had it is to be blamed all the same.
Test(waits, nobody_ends_what_timed_out) {
  for (const ObjectKind kind : {ObjectKind::kCondition, ObjectKind::kMutex}) {
    RandomProfile made = two_threads();
    made.profile.waits.waits = {{40 * kMs, 30 * kMs, 0x10, {1}, {0}, 1, kind}};
    made.profile.waits.waits[0].timed_out = true;
    made.profile.waits.releases = {{20 * kMs, 0, 0x10, {0}, {0}, 1, kind}};
    cr_expect_not(analyze::Releasers(made.profile).of(made.profile.waits.waits[0]));
    const auto counted = analyze::counted_waits(made.profile, {}, concurrency_of(made.profile));
    const auto objects = analyze::wait_objects(made.profile, {}, concurrency_of(made.profile), counted);
    cr_assert_eq(objects.size(), 1u);
    cr_expect_eq(objects[0].holders.size(), kind == ObjectKind::kMutex ? 1u : 0u);
    cr_expect_eq(uncaused(objects[0], Uncaused::kTimedOut), kind == ObjectKind::kMutex ? 20 * kMs : 30 * kMs);
  }
}

/// What no holder caused has a reason, and all adds up to the waits.
Test(waits, what_nobody_caused_is_told_by_its_reason) {
  RandomProfile made = two_threads();
  constexpr ObjectKind kKind = ObjectKind::kSemaphore;
  made.profile.session.texts.emplace_back(session_key::kWaitMinNs, "2000000");
  made.profile.waits.waits = {{20 * kMs, 10 * kMs, 0x10, {1}, {0}, 1, kKind},
                              {24 * kMs, 3 * kMs, 0x10, {1}, {0}, 1, kKind},
                              {27 * kMs, 1 * kMs, 0x10, {1}, {0}, 1, kKind},
                              {38 * kMs, 5 * kMs, 0x10, {1}, {0}, 99, kKind}};
  made.profile.waits.releases = {{18 * kMs, 0, 0x10, {0}, {0}, 1, kKind}};
  const auto counted = analyze::counted_waits(made.profile, {}, concurrency_of(made.profile));
  const auto objects = analyze::wait_objects(made.profile, {}, concurrency_of(made.profile), counted);
  cr_assert_eq(objects.size(), 1u);
  cr_assert_eq(objects[0].holders.size(), 1u);
  cr_expect_eq(objects[0].holders[0].caused_ns, 8 * kMs);
  cr_expect_eq(uncaused(objects[0], Uncaused::kAfterRelease), 2 * kMs);
  cr_expect_eq(uncaused(objects[0], Uncaused::kUnseen), 3 * kMs);
  cr_expect_eq(uncaused(objects[0], Uncaused::kTimedOut), 0u);
  cr_expect_eq(uncaused(objects[0], Uncaused::kCounted), 6 * kMs);
  cr_expect_eq(objects[0].wait_ns, 19 * kMs);
}

/// After a signal a condition's wait may go on for the mutex, which is a wait of its own: what counts for the
/// condition was before.
Test(waits, of_what_counts_the_begin_is_caused_first) {
  RandomProfile made = two_threads();
  made.profile.waits.waits = {{30 * kMs, 10 * kMs, 0x20, {1}, {0}, 1, ObjectKind::kMutex},
                              {30 * kMs, 20 * kMs, 0x10, {1}, {0}, 1, ObjectKind::kCondition}};
  made.profile.waits.releases = {{20 * kMs, 0, 0x10, {0}, {0}, 1, ObjectKind::kCondition}};
  const auto counted = analyze::counted_waits(made.profile, {}, concurrency_of(made.profile));
  for (const auto& object : analyze::wait_objects(made.profile, {}, concurrency_of(made.profile), counted)) {
    if (object.key.kind != ObjectKind::kCondition) continue;
    cr_expect_eq(object.wait_ns, 10 * kMs);
    cr_expect_eq(uncaused(object, Uncaused::kAfterRelease), 0u);
    cr_expect_eq(object.holders.at(0).caused_ns, 10 * kMs);
  }
}

/// Waits come by thread, and which thread has the first row says nothing of when.
Test(waits, an_object_is_where_it_was_first_waited_for) {
  RandomProfile made = two_threads();
  load::Profile& profile = made.profile;
  profile.sites = {{{0}, {0x100}}, {{0}, {0x200}}};
  profile.paths = {{}, {{0}, {0}}, {{0}, {1}}};
  profile.waits.waits = {{35 * kMs, 5 * kMs, 0x10, {0}, {1}, 1, ObjectKind::kMutex},
                         {40 * kMs, 30 * kMs, 0x10, {1}, {2}, 1, ObjectKind::kMutex},
                         {50 * kMs, 45 * kMs, 0x10, {1}, {0}, 9, ObjectKind::kMutex}};
  const auto counted = analyze::counted_waits(profile, {}, concurrency_of(profile));
  const auto objects = analyze::wait_objects(profile, {}, concurrency_of(profile), counted);
  cr_assert_eq(objects.size(), 1u);
  cr_expect_eq(objects[0].first.value, 2u, "and not of a sum, which has no stack");
}

Test(waits, the_end_of_a_thread_releases_who_joins_it) {
  RandomProfile made = two_threads();
  made.profile.threads[0].end_time = {39 * kMs};
  made.profile.waits.waits = {{40 * kMs, 30 * kMs, 100, {1}, {0}, 1, ObjectKind::kThread}};
  const auto counted = analyze::counted_waits(made.profile, {}, concurrency_of(made.profile));
  const auto objects = analyze::wait_objects(made.profile, {}, concurrency_of(made.profile), counted);
  cr_assert_eq(objects.size(), 1u);
  cr_assert_eq(objects[0].holders.size(), 1u);
  cr_expect(objects[0].holders[0].thread == ThreadId{0});
  cr_expect_eq(objects[0].holders[0].caused_ns, 29 * kMs);
}

Test(waits, sums_of_short_ones_give_way) {
  RandomProfile made = two_threads();
  made.profile.waits.waits = {{30 * kMs, 20 * kMs, 0x10, {1}, {0}, 1, ObjectKind::kMutex},
                              {39 * kMs, 15 * kMs, 0x20, {1}, {0}, 1000, ObjectKind::kMutex}};
  const auto counted = analyze::counted_waits(made.profile, {}, concurrency_of(made.profile));
  cr_assert_eq(counted.size(), 2u);
  cr_expect_eq(counted[0].time_ns, 20 * kMs);
  cr_expect_eq(counted[1].time_ns, 10 * kMs, "no more than is left of the thread's Wait");
  cr_expect_eq(counted[1].count, 1000u);
}

/// A signal comes at 20 ms; its handler runs until 25 and waits from 28 to 32. Blocked are 10..20 and 25..40.
Test(waits, a_moment_counts_for_the_innermost_wait) {
  RandomProfile made = two_threads();
  std::vector<load::RunEvent>& events = made.profile.run_states.events;
  const load::RunEvent blocks = events[2], runs = events[3];
  events[3].time_ns = 20 * kMs;
  events.push_back(blocks), events.back().time_ns = 25 * kMs;
  events.push_back(runs);
  made.profile.waits.waits = {{32 * kMs, 4 * kMs, 0x20, {1}, {0}, 1, ObjectKind::kSemaphore},
                              {42 * kMs, 34 * kMs, 0x10, {1}, {0}, 1, ObjectKind::kMutex}};
  for (const auto source : {load::RunStates::Source::kSwitches, load::RunStates::Source::kSweeps}) {
    made.profile.run_states.source = source;
    const bool exact = source == load::RunStates::Source::kSwitches;
    const auto counted = analyze::counted_waits(made.profile, {}, concurrency_of(made.profile));
    cr_assert_eq(counted.size(), 2u);
    // Of sweeps nobody knows when; what is more than the thread's Wait of 25 ms is taken from both.
    cr_expect_eq(counted[0].time_ns, exact ? 4 * kMs : uint64_t(4e6 * (25.0 / 34)));
    cr_expect_eq(counted[1].time_ns, exact ? 21 * kMs : uint64_t(30e6 * (25.0 / 34)));
  }
}

/// A call that copies for 10 ms is no wait; a lock that was not to be had is one, however it was waited for.
Test(waits, calls_that_work_are_none) {
  RandomProfile made = two_threads();
  for (const ObjectKind kind : {ObjectKind::kDescriptor, ObjectKind::kMutex}) {
    made.profile.waits.waits = {{20 * kMs, 10 * kMs, 5, {0}, {0}, 1, kind}};
    const auto counted = analyze::counted_waits(made.profile, {}, concurrency_of(made.profile));
    cr_expect_eq(counted.size(), kind == ObjectKind::kMutex ? 1u : 0u);
    made.profile.run_states.lost = 1;
    cr_expect_eq(analyze::counted_waits(made.profile, {}, concurrency_of(made.profile)).size(), 1u,
                 "who knows what was lost");
    made.profile.run_states.lost = 0;
  }
}

/// A sample at 42 ms stands for 12 ms, of which the thread was blocked for none and 2 lie in the range.
Test(waits, of_a_range_are_not_cut_by_a_sample_that_began_before) {
  RandomProfile made = two_threads();
  load::Profile& profile = made.profile;
  profile.threads[1].end_cpu = {70 * kMs};
  profile.samples.time_ns = {42 * kMs, 99 * kMs};
  profile.samples.weight_ns = {12 * kMs, 58 * kMs};
  profile.samples.thread = {{1}, {1}};
  profile.samples.path = {{0}, {0}};
  profile.samples.ticks = {1, 1};
  for (const auto source : {load::RunStates::Source::kSwitches, load::RunStates::Source::kSweeps}) {
    profile.run_states.source = source;
    const auto states = analyze::settled_states(profile, {35 * kMs, 45 * kMs});
    cr_expect_eq(states[1].running_ns, 5 * kMs);
    cr_expect_eq(states[1].waiting_ns(), 5 * kMs);
    cr_expect_eq(analyze::settled_states(profile, {0, 100 * kMs})[1].running_ns, 70 * kMs);
  }
}

/// The waiter is blocked for the first half of each of so many stretches of 200 ns.
RandomProfile often_blocked(uint32_t times) {
  RandomProfile made = two_threads();
  std::vector<load::RunEvent>& events = made.profile.run_states.events;
  const load::RunEvent blocks = events[2], runs = events[3];
  events.resize(2);
  for (uint64_t i = 1; i <= times; ++i) {
    events.push_back(blocks), events.back().time_ns = i * 200;
    events.push_back(runs), events.back().time_ns = i * 200 + 100;
  }
  return made;
}

/// However many sums come later, a stretch looks at none of them: else this takes minutes.
Test(waits, sums_are_nowhere) {
  constexpr uint32_t kTimes = 250'000;
  RandomProfile made = often_blocked(kTimes);
  for (uint64_t i = 1; i <= kTimes; ++i)
    made.profile.waits.waits.push_back({i * 200 + 100, 4, 0x10, {1}, {0}, 2, ObjectKind::kMutex});
  made.profile.waits.waits.push_back({kTimes * 200 + 150, 150, 0x20, {1}, {0}, 1, ObjectKind::kMutex});
  const auto counted = analyze::counted_waits(made.profile, {}, concurrency_of(made.profile));
  cr_assert_eq(counted.size(), kTimes + 1);
  cr_expect_eq(counted[0].time_ns, 4u);
  cr_expect_eq(counted.back().time_ns, 100u);
}

/// As only a damaged profile has them. What is more than the deepest handler is in no wait, nothing is twice.
Test(waits, one_in_the_other_without_end) {
  constexpr uint32_t kTimes = 100'000;
  RandomProfile made = often_blocked(kTimes);
  const uint64_t middle = 100 * kTimes;
  for (uint64_t i = 1; i <= kTimes; ++i)
    made.profile.waits.waits.push_back({middle + i * 100, i * 200, 0x10, {1}, {0}, 1, ObjectKind::kMutex});
  uint64_t sum = 0;
  for (const auto& each : analyze::counted_waits(made.profile, {}, concurrency_of(made.profile)))
    sum += each.time_ns;
  cr_expect_gt(sum, 0u);
  cr_expect_leq(sum, 100u * kTimes);
}

/// Wait by path, by thread and by what was filtered out is the Wait of all threads.
Test(waits, add_up_to_the_wait_of_threads) {
  for (const uint64_t seed : {1, 5, 7, 11, 13}) {
    const RandomProfile made = test::random_profile(seed);
    cr_assert_not(made.profile.waits.empty());
    const auto states = analyze::settled_states(made.profile, analyze::time_range(made.profile, {}));
    uint64_t whole = 0;
    for (const auto& each : states) whole += each.waiting_ns();
    analyze::Filter filter;
    for (const char* thread : {"", "1"}) {
      if (*thread) filter.thread = *analyze::Pattern::parse(thread);
      const auto concurrency = analyze::concurrency(made.profile, filter, {});
      const auto selection = analyze::select_waits(made.profile, made.symbols, filter, concurrency);
      const uint64_t kept = selection.kept[analyze::kCpu];
      cr_expect_eq(kept + selection.filtered_out[analyze::kCpu], whole, "seed %lu", seed);
      cr_expect_eq(selection.by_path.sum()[analyze::kCpu], kept);
      cr_expect_eq(selection.by_thread.sum()[analyze::kCpu], kept);
    }
  }
}

}  // namespace
}  // namespace varve
