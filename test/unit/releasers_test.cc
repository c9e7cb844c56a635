// SPDX-License-Identifier: MIT
// Releasers: who let a waiting thread go on, at a barrier, at the other end of a connection, by its end.
// Context: tests.
#include "viewer/analyze/releasers.h"

#include <criterion/criterion.h>

#include "test/unit/two_threads.h"

namespace varve {
namespace {

using format::ObjectKind;
using test::RandomProfile;
using test::two_threads;
using varve::kMs;

/// Who comes last to a barrier may lose its processor on the way, so that others begin to wait after it
/// began; and one that was let go on may get its processor when the next round has ended for others.
Test(waits, at_a_barrier_end_with_who_came_last) {
  RandomProfile made = two_threads();
  constexpr ObjectKind kKind = ObjectKind::kBarrier;
  const auto released_by = [&](uint64_t begin, uint64_t end) -> uint64_t {
    const auto row =
        analyze::Releasers(made.profile).of({end * kMs, (end - begin) * kMs, 7, {1}, {0}, 1, kKind});
    return row ? row->time_ns / kMs : 0;
  };
  made.profile.waits.releases = {{10 * kMs, 4 * kMs, 7, {0}, {0}, 1, kKind},
                                 {20 * kMs, 1 * kMs, 7, {0}, {0}, 1, kKind}};
  cr_expect_eq(released_by(5, 12), 10u);
  cr_expect_eq(released_by(12, 15), 12u, "within the wait");
  cr_expect_eq(released_by(5, 22), 10u, "its own round, not the next");
  cr_expect_eq(released_by(15, 19), 0u);
}

/// The other end has another number, and may be another process's.
Test(waits, who_sends_ends_the_wait_at_the_other_end) {
  RandomProfile made = two_threads();
  made.profile.processes.push_back({});
  made.profile.threads[0].process = {1};
  constexpr uint32_t kFlow = 3, kOtherFlow = 4, kUnknown = 0;
  made.profile.waits.waits = {{40 * kMs, 30 * kMs, 5, {1}, {0}, 1, ObjectKind::kDescriptor, 0, kFlow}};
  const auto release = [](uint64_t ms, uint64_t object, uint32_t flow) {
    return load::Release{ms * kMs, 0, object, {0}, {0}, 1, ObjectKind::kDescriptor, flow};
  };
  std::vector<load::Release>& releases = made.profile.waits.releases;
  releases = {release(38, 5, kUnknown), release(39, 5 | format::kToSend, kFlow), release(39, 5, kOtherFlow)};
  cr_expect_not(analyze::Releasers(made.profile).of(made.profile.waits.waits[0]));
  releases.insert(releases.begin(), release(37, 9, kFlow));
  const auto releaser = analyze::Releasers(made.profile).of(made.profile.waits.waits[0]);
  cr_assert(releaser);
  cr_expect(releaser->thread == ThreadId{0});
  cr_expect_eq(releaser->time_ns, 37 * kMs);
}

/// Of children the one whose end is nearest to the wait's: the kernel's word of an end may be late. None that
/// did not live yet.
Test(waits, who_waits_for_any_child_goes_on_by_the_nearest_end) {
  RandomProfile made = two_threads();
  load::Profile& profile = made.profile;
  profile.processes[0].pid = 7;
  profile.waits.waits = {{40 * kMs, 30 * kMs, 0, {1}, {0}, 1, ObjectKind::kChild}};
  const auto child = [&](uint64_t start_ms, uint64_t end_ms) {
    const auto number = uint32_t(profile.processes.size());
    load::Process process;
    process.pid = int32_t(70 + number), process.ppid = 7;
    profile.processes.push_back(process);
    load::Thread thread;
    thread.process = {number}, thread.tid = process.pid;
    thread.start_time = {start_ms * kMs}, thread.end_time = {end_ms * kMs};
    profile.threads.push_back(thread);
    return ThreadId{uint32_t(profile.threads.size() - 1)};
  };
  const auto expect = [&](ThreadId thread, uint64_t at_ms) {
    const auto releaser = analyze::Releasers(profile).of(profile.waits.waits[0]);
    cr_assert(releaser);
    cr_expect_eq(releaser->thread.value, thread.value);
    cr_expect_eq(releaser->time_ns, at_ms * kMs);
  };
  const ThreadId early = child(1, 15);
  expect(early, 15);
  expect(child(2, 49), 40);
  child(41, 42);  // begun by the parent once it went on
  expect(ThreadId{3}, 40);
  expect(child(3, 38), 38);
  child(3, 55);  // long after
  expect(ThreadId{5}, 38);
}

}  // namespace
}  // namespace varve
