// SPDX-License-Identifier: MIT
// The critical path of programs whose events are known: the example of the paper that defined the classes,
// and each way in which one thread lets another go on. And of profiles that cannot be: it tiles the run
// whatever they say, and ends. Context: tests.
#include <criterion/criterion.h>

#include <random>

#include "test/unit/path_builder.h"
#include "test/unit/random_profile.h"
#include "viewer/analyze/path_sums.h"
#include "viewer/analyze/tlp.h"

using namespace varve;
using analyze::PathClass;
using format::ObjectKind;
using test::PathBuilder;

namespace {

constexpr uint64_t kLock = 0x1000, kLock2 = 0x2000;

void expect_path(PathBuilder& built, const char* wanted) {
  const std::string got = test::words(built.profile(), built.path());
  cr_expect(got == wanted, "\n  got    %s\n  wanted %s", got.c_str(), wanted);
}

void expect_tiles(const analyze::CriticalPath& path) {
  uint64_t time = path.run.begin;
  for (const analyze::PathSegment& segment : path.segments) {
    cr_expect_eq(segment.range.begin, time);
    cr_expect_gt(segment.range.length(), 0);
    time = segment.range.end;
  }
  cr_expect_eq(time, path.run.end);
}

}  // namespace

Test(critical_path, of_the_example) {
  PathBuilder built = test::breshears_example();
  const char* wanted =
      "0-10 Cruise T1, 10-20 Overhead T1 to T2, 20-40 Cruise T2, 40-50 Impact T2, 50-60 Overhead T2 to T3, "
      "60-70 Cruise T3, 70-80 Blocking T3, 80-90 Cruise T3, 90-100 Impact T3, 100-110 Overhead T3 to T1, "
      "110-120 Cruise T1";
  expect_path(built, wanted);
  built.observe();
  expect_path(built, wanted);
}

/// Table 1 of the paper.
Test(critical_path, levels_of_the_example) {
  PathBuilder built = test::breshears_example();
  built.observe();
  const load::Profile& profile = built.profile();
  const analyze::CriticalPath path = built.path();
  const analyze::Levels levels(profile.run_states, path.run, [](TrackId) { return true; });
  std::vector<analyze::PathSegment> slices;
  for (uint64_t i = 0; i < 12; ++i) {
    const uint64_t begin = path.run.begin + i * 10'000'000;
    slices.push_back({.range = {begin, begin + 10'000'000}, .what = PathClass::kCruise});
  }
  const std::vector<double> means = analyze::path_levels(slices, levels, &analyze::Level::active).means;
  const std::vector<double> wanted = {1, 1, 3, 2, 1, 1, 2, 1, 2, 1, 0, 1};
  for (size_t i = 0; i < 12; ++i) cr_expect_float_eq(means[i], wanted[i], 1e-9, "E%zu", i + 1);
  const analyze::PathLevels of_path = analyze::path_levels(path.segments, levels, &analyze::Level::active);
  const auto ms = [&](size_t level, PathClass what) {
    return of_path.by_level[level][size_t(what)] / 1'000'000;
  };
  cr_assert_eq(of_path.by_level.size(), 4);
  cr_expect_eq(ms(0, PathClass::kOverhead), 10);
  cr_expect_eq(ms(1, PathClass::kCruise), 20);
  cr_expect_eq(ms(1, PathClass::kOverhead), 20);
  cr_expect_eq(ms(1, PathClass::kImpact), 20);
  cr_expect_eq(ms(1, PathClass::kBlocking), 10);
  cr_expect_eq(ms(2, PathClass::kCruise), 30);
  cr_expect_eq(ms(3, PathClass::kCruise), 10);
}

Test(critical_path, who_delayed_whom_in_the_example) {
  PathBuilder built = test::breshears_example();
  const analyze::CriticalPath path = built.path();
  const auto delays = analyze::path_delays(built.profile(), path.segments, path.moves);
  cr_assert_eq(delays.size(), 4);  // lock, end of T3, descriptor, creation
  cr_expect_eq(delays[0].object.address, kLock);
  cr_expect_eq(delays[0].from.value, 1);
  cr_expect_eq(delays[0].to.value, 2);
  cr_expect_eq(delays[0].moves, 1);
  cr_expect_eq(delays[0].times[size_t(PathClass::kImpact)], 10'000'000);
  cr_expect_eq(delays[0].times[size_t(PathClass::kOverhead)], 10'000'000);
  cr_expect_eq(delays[1].object.kind, ObjectKind::kThread);
  cr_expect_eq(delays[2].times[size_t(PathClass::kBlocking)], 10'000'000);
  cr_expect_eq(delays[3].object.kind, ObjectKind::kNone);
  cr_expect(!delays[3].object.process.valid(), "starts of all processes are one object");
}

/// A read that takes 20 ms because it copies, and one that waits for its first half.
Test(critical_path, of_calls_that_work) {
  PathBuilder built(30);
  const ThreadId main = built.thread("main", 0, 30);
  built.observe();
  built.wait(main, ObjectKind::kDescriptor, 5, 5, 25);
  expect_path(built, "0-30 Cruise main");
  built.wait(main, ObjectKind::kDescriptor, 5, 5, 15);
  built.observe();
  built.profile().waits.waits.erase(built.profile().waits.waits.begin());
  expect_path(built, "0-5 Cruise main, 5-15 Blocking main, 15-30 Cruise main");
}

/// Main signals at 20 and has the mutex until 49.
PathBuilder signal_and_keep() {
  PathBuilder built(60);
  const ThreadId main = built.thread("main", 0, 60);
  const ThreadId t = built.thread("T", 1, 58, main, 0);
  built.thread("X", 1, 55, main, 0);
  built.wait(t, ObjectKind::kMutex, kLock, 20, 50);
  built.wait(t, ObjectKind::kCondition, kLock2, 2, 50);
  built.wait(main, ObjectKind::kThread, uint64_t(built.tid(t)), 50, 59);
  built.release(main, ObjectKind::kMutex, kLock, 49);
  return built;
}

Test(critical_path, who_signals_and_keeps_the_mutex_has_the_other_wait_on) {
  PathBuilder built = signal_and_keep();
  built.release({0}, ObjectKind::kCondition, kLock2, 20);
  expect_path(built,
              "0-2 Cruise main, 2-49 Impact main, 49-50 Overhead main to T, 50-58 Impact T, "
              "58-59 Overhead T to main, 59-60 Cruise main");
  PathBuilder by_another = signal_and_keep();
  by_another.release({2}, ObjectKind::kCondition, kLock2, 20);
  expect_path(by_another,
              "0-20 Cruise main, 20-49 Impact main, 49-50 Overhead main to T, 50-58 Impact T, "
              "58-59 Overhead T to main, 59-60 Cruise main");
}

/// Nobody knows which of the hundred waits that were added up it was, nor who ended it.
Test(critical_path, waits_that_were_only_added_up_are_not_followed) {
  PathBuilder built(40);
  const ThreadId main = built.thread("main", 0, 40);
  built.wait(main, ObjectKind::kSemaphore, kLock, 10, 20);
  built.observe();
  expect_path(built, "0-10 Cruise main, 10-20 Blocking main, 20-40 Cruise main");
  built.wait(main, ObjectKind::kSemaphore, kLock, 21, 22, 100);
  expect_path(built, "0-10 Cruise main, 10-20 [not recorded] main, 20-40 Cruise main");
  built.profile().waits.waits.erase(built.profile().waits.waits.begin());
  expect_path(built, "0-10 Cruise main, 10-20 [not recorded] main, 20-40 Cruise main");
}

Test(critical_path, of_nothing_that_happens_is_the_main_thread) {
  PathBuilder built(50);
  built.thread("main", 0, 50);
  expect_path(built, "0-50 Cruise main");
  built.observe();
  expect_path(built, "0-50 Cruise main");
}

/// The lock goes from A to B to C, each of which works 10 ms with it, and main joins C.
Test(critical_path, along_a_chain_of_locks) {
  PathBuilder built(40);
  const ThreadId main = built.thread("main", 0, 40);
  const ThreadId a = built.thread("A", 1, 11, main, 0);
  const ThreadId b = built.thread("B", 1, 22, main, 0);
  const ThreadId c = built.thread("C", 1, 33, main, 0);
  built.release(a, ObjectKind::kMutex, kLock, 10);
  built.wait(b, ObjectKind::kMutex, kLock, 2, 12);
  built.release(b, ObjectKind::kMutex, kLock, 20);
  built.wait(c, ObjectKind::kMutex, kLock, 3, 21);
  built.wait(main, ObjectKind::kThread, uint64_t(built.tid(c)), 1, 34);
  expect_path(built,
              "0-1 Overhead main to A, 1-2 Cruise A, 2-10 Impact A, 10-12 Overhead A to B, 12-20 Impact B, "
              "20-21 Overhead B to C, 21-33 Impact C, 33-34 Overhead C to main, 34-40 Cruise main");
}

/// Of several who let go of a lock during a wait the last one had it until the wait ended; of two locks each
/// has its own.
Test(critical_path, goes_to_the_last_holder_of_the_same_object) {
  PathBuilder built(40);
  const ThreadId main = built.thread("main", 0, 40);
  const ThreadId a = built.thread("A", 1, 39, main, 1);
  const ThreadId b = built.thread("B", 1, 39, main, 1);
  built.wait(main, ObjectKind::kMutex, kLock, 10, 30);
  built.release(a, ObjectKind::kMutex, kLock, 15);
  built.release(b, ObjectKind::kMutex, kLock, 25);
  built.release(a, ObjectKind::kMutex, kLock2, 28);
  built.release(a, ObjectKind::kRwLock, kLock, 29);
  built.release(main, ObjectKind::kMutex, kLock, 29);
  built.release(a, ObjectKind::kMutex, kLock, 31);
  expect_path(built,
              "0-1 Cruise main, 1-10 Cruise B, 10-25 Impact B, 25-30 Overhead B to main, 30-40 Cruise main");
}

/// A ring of conditions: each thread wakes the next one after 10 ms of work.
Test(critical_path, along_a_chain_of_conditions) {
  PathBuilder built(41);
  const ThreadId main = built.thread("main", 0, 41);
  const ThreadId a = built.thread("A", 0, 31, main, 0);
  built.wait(a, ObjectKind::kCondition, 1, 0, 10.5);
  built.release(main, ObjectKind::kCondition, 1, 10);
  built.wait(main, ObjectKind::kCondition, 2, 10.5, 20.5);
  built.release(a, ObjectKind::kCondition, 2, 20);
  built.wait(a, ObjectKind::kCondition, 1, 20.5, 30.5);
  built.release(main, ObjectKind::kCondition, 1, 30);
  expect_path(built,
              "0-10 Impact main, 10-10.5 Overhead main to A, 10.5-20 Impact A, 20-20.5 Overhead A to main, "
              "20.5-41 Cruise main");
}

/// Whoever comes last to a barrier was on the path; the others delayed nobody.
Test(critical_path, with_a_barrier_goes_to_the_last_to_come) {
  PathBuilder built(30);
  const ThreadId main = built.thread("main", 0, 30);
  const ThreadId slow = built.thread("slow", 1, 29, main, 0);
  const ThreadId quick = built.thread("quick", 1, 29, main, 0);
  built.wait(quick, ObjectKind::kBarrier, 7, 5, 21);
  built.wait(main, ObjectKind::kBarrier, 7, 10, 21);
  built.release(slow, ObjectKind::kBarrier, 7, 20);
  expect_path(built,
              "0-1 Overhead main to slow, 1-10 Cruise slow, 10-20 Impact slow, 20-21 Overhead slow to main, "
              "21-30 Cruise main");
}

Test(critical_path, of_nested_joins) {
  PathBuilder built(60);
  const ThreadId main = built.thread("main", 0, 60);
  const ThreadId a = built.thread("A", 11, 50, main, 10);
  const ThreadId b = built.thread("B", 21, 40, a, 20);
  built.wait(main, ObjectKind::kThread, uint64_t(built.tid(a)), 15, 51);
  built.wait(a, ObjectKind::kThread, uint64_t(built.tid(b)), 25, 41);
  expect_path(built,
              "0-10 Cruise main, 10-11 Overhead main to A, 11-20 Cruise A, 20-21 Overhead A to B, 21-25 "
              "Cruise B, 25-40 Impact B, 40-41 Overhead B to A, 41-50 Impact A, 50-51 Overhead A to main, "
              "51-60 Cruise main");
}

Test(critical_path, blocks_where_no_thread_ends_the_wait) {
  PathBuilder built(50);
  const ThreadId main = built.thread("main", 0, 50);
  built.wait(main, ObjectKind::kSleep, 0, 10, 20);
  built.wait(main, ObjectKind::kCondition, 1, 30, 45);     // timed out
  built.wait(main, ObjectKind::kMutex, kLock, 21, 22, 7);  // seven short ones: nobody knows when
  expect_path(built,
              "0-10 Cruise main, 10-20 Blocking main, 20-30 Cruise main, 30-45 Blocking main, 45-50 "
              "Cruise main");
}

/// A raw futex, say: only the observer knows.
Test(critical_path, blocks_where_only_the_observer_saw_it) {
  PathBuilder built(50);
  const ThreadId main = built.thread("main", 0, 50);
  built.wait(main, ObjectKind::kSleep, 0, 10, 20);
  built.wait(main, ObjectKind::kSleep, 0, 30, 30.04);
  built.observe();
  built.profile().waits = {};
  expect_path(built, "0-10 Cruise main, 10-20 Blocking main, 20-50 Cruise main");
}

Test(critical_path, is_not_recorded_where_nobody_saw_a_thread) {
  PathBuilder built(50);
  const ThreadId main = built.thread("main", 0, 50);
  built.wait(main, ObjectKind::kSleep, 0, 10, 20);
  built.profile().threads[0].end_time = {};  // killed: the wait is the last that is known
  built.profile().processes[0].end_time = {};
  expect_path(built, "0-10 Cruise main, 10-20 Blocking main, 20-50 [not recorded] main");
  built.profile().threads[0].seen_only = true;
  built.profile().waits = {};
  expect_path(built, "0-50 [not recorded] main");
  built.profile().threads.clear();
  expect_path(built, "0-50 [not recorded] nobody");
}

Test(critical_path, over_processes) {
  PathBuilder built(60);
  const ThreadId main = built.thread("make", 0, 60);
  const ProcessId child = built.process(200, 100, 10, 40);
  const ThreadId other = built.thread("cc", 10, 40, {}, 0, child);
  built.wait(main, ObjectKind::kChild, uint64_t(-1), 15, 42);
  expect_path(built,
              "0-10 Cruise make, 10-15 Cruise cc, 15-40 Impact cc, 40-42 Overhead cc to make, 42-60 "
              "Cruise make");
  // An exec: the same thread of the kernel goes on.
  load::Process& before = built.profile().processes[child.index()];
  before.end = format::ImageEnd::kExec;
  before.end_time = {PathBuilder::kStart + 20'000'000};
  built.profile().threads[other.index()].end_time = before.end_time;
  const ProcessId image = built.process(200, 100, 20, 40);
  built.profile().processes[image.index()].image = 1;
  built.thread("as", 20, 40, {}, 0, image);
  expect_path(built,
              "0-10 Cruise make, 10-15 Cruise cc, 15-20 Impact cc, 20-40 Impact as, 40-42 Overhead as to "
              "make, 42-60 Cruise make");
}

/// A shell reads a pipe until its child ends: no hook knows of whom it waits for.
Test(critical_path, goes_to_a_child_that_ended) {
  PathBuilder built(60);
  const ThreadId main = built.thread("sh", 0, 60);
  const ProcessId child = built.process(200, 100, 10, 40);
  built.thread("cat", 10, 40, {}, 0, child);
  built.wait(main, ObjectKind::kDescriptor, 3, 15, 41);
  const char* wanted =
      "0-10 Cruise sh, 10-15 Cruise cat, 15-40 Impact cat, 40-41 Overhead cat to sh, 41-60 Cruise sh";
  expect_path(built, wanted);
  built.observe();
  expect_path(built, wanted);
  built.profile().waits = {};
  expect_path(built, wanted);
  built.profile().processes[child.index()].ppid = 7;  // not its child
  expect_path(built, "0-15 Cruise sh, 15-41 Blocking sh, 41-60 Cruise sh");
}

Test(critical_path, leaves_out_what_was_paused) {
  PathBuilder built(50);
  built.thread("main", 0, 50);
  const auto at = [](uint64_t ms) { return Nanos{PathBuilder::kStart + ms * 1'000'000}; };
  built.profile().pauses = {{{}, at(0), at(5)}, {{}, at(20), at(30)}};
  expect_path(built,
              "0-5 [not recorded] main, 5-20 Cruise main, 20-30 [not recorded] main, 30-50 Cruise main");
}

namespace {

/// Anything at all: times that go backwards, threads that create each other, releases of one's own.
load::Profile hostile_profile(uint64_t seed) {
  test::RandomProfile made = test::random_profile(seed, 50);
  load::Profile profile = std::move(made.profile);
  std::mt19937_64 random(seed);
  const size_t steps = 1 + random() % 20;  // few different times: much happens at the same moment
  const auto time = [&] {
    return profile.session.start_time.count - 100'000'000 + random() % steps * (1'200'000'000 / steps);
  };
  const auto thread = [&] { return ThreadId{uint32_t(random() % profile.threads.size())}; };
  for (load::Thread& each : profile.threads) {
    if (random() % 2) each.creator = thread();
    each.created = {random() % 3 ? time() : 0};
    each.start_time = {time()};
    each.end_time = {random() % 3 ? time() : 0};
    each.seen_only = random() % 5 == 0;
    each.is_main = random() % 3 == 0;
  }
  for (load::Process& each : profile.processes) {
    each.start_time = {time()};
    each.end_time = {random() % 2 ? time() : 0};
    each.ppid = int32_t(100 + random() % 4);
    each.image = uint32_t(random() % 3);
    if (random() % 3 == 0) each.pid = 100;
  }
  const auto kind = [&] { return ObjectKind(random() % (size_t(ObjectKind::kCount) + 1)); };
  const auto object = [&](ObjectKind what) {
    return what == ObjectKind::kThread  ? 1000 + random() % 6
           : what == ObjectKind::kChild ? random() % 103
                                        : random() % 3;
  };
  for (size_t i = random() % 300; i > 0; --i) {
    const ObjectKind what = kind();
    const uint64_t end = time();
    profile.waits.waits.push_back({end,
                                   random() % 4 ? random() % 200'000'000 : random(),
                                   object(what),
                                   thread(),
                                   {0},
                                   uint32_t(random() % 8 ? 1 : 3),
                                   what});
  }
  for (size_t i = random() % 300; i > 0; --i) {
    const ObjectKind what = kind();
    profile.waits.releases.push_back({time(), 0, object(what), thread(), {0}, 1, what});
  }
  profile.waits.sort();
  if (random() % 4 == 0) profile.pauses = {{{}, {time()}, {time()}}, {{}, {time()}, {time()}}};
  return profile;
}

}  // namespace

Test(critical_path, tiles_any_profile_and_ends) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const load::Profile profile = hostile_profile(seed);
    const analyze::CriticalPath path = analyze::critical_path(profile);
    expect_tiles(path);
    cr_expect_leq(path.moves.size(), profile.waits.waits.size() + 2 * profile.threads.size());
    uint64_t sum = 0;
    for (const uint64_t each : path.by_class()) sum += each;
    cr_expect_eq(sum, profile.session.elapsed.count);
    // The sums by path, thread and level are all of it, too.
    const analyze::SegmentPaths paths(profile);
    cr_expect_eq(analyze::times_by_path(profile, path.segments, paths).sum()[0], sum);
    cr_expect_eq(analyze::times_by_thread(profile, path.segments).sum()[0], sum);
    const analyze::Levels levels(profile.run_states, path.run, [](TrackId) { return true; });
    const auto of_level = analyze::path_levels(path.segments, levels, &analyze::Level::active);
    uint64_t by_level = 0;
    for (const auto& times : of_level.by_level)
      for (const uint64_t each : times) by_level += each;
    for (const uint64_t each : of_level.unobserved) by_level += each;
    cr_expect_eq(by_level, sum);
  }
}
