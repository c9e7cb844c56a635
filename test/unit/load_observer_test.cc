// SPDX-License-Identifier: MIT
// The reader of observer files, from bytes: what was told comes back, and whatever is damaged leaves events
// in the order of time, one state a thread at a time. Context: tests.
#include <criterion/criterion.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "test/unit/observed_times.h"
#include "test/unit/profile_builder.h"
#include "viewer/analyze/thread_states.h"

using namespace varve;
using load::RunEvent;
using load::RunStates;
using test::at;
using test::check_consistent;
using test::kStart;
using test::ObserverBuilder;
using test::ProfileBuilder;
using enum format::SwitchKind;

namespace {

/// A process with two threads, and nothing observed yet.
ProfileBuilder two_threads() {
  ProfileBuilder builder;
  const size_t process = builder.add_process(100);
  builder.process(process).start_time_ns = kStart;
  builder.add_thread(process, 100, "main");
  builder.add_thread(process, 101);
  for (auto& thread : builder.process(process).threads) thread.start_time_ns = kStart;
  builder.observer.start_time_ns = kStart;
  return builder;
}

void add_tracks(ObserverBuilder& observer) {
  observer.track(0, 100, 100, at(0), "main", true);
  observer.track(1, 100, 101, at(0), "worker");
}

ProfileBuilder with_switches() {
  ProfileBuilder builder = two_threads();
  ObserverBuilder& observer = builder.observer;
  add_tracks(observer);
  observer.switched(at(1), 0, kIn, 3);
  observer.switched(at(4), 1, kIn, 0);
  observer.switched(at(5), 0, kOutBlocked);
  observer.wait(0, at(8), WaitKind::kIo);
  observer.next_chunk();
  observer.switched(at(9), 1, kOutReady);
  observer.switched(at(10), 0, kIn, 3);
  observer.lost(at(11), 7);
  observer.switched(at(12), 1, kIn, 1);
  observer.track_end(1, at(15), 20, 30);
  observer.switched(at(20), 0, kOutBlocked);
  observer.track_end(0, at(20), 1, 2);
  return builder;
}

ProfileBuilder with_sweeps() {
  ProfileBuilder builder = two_threads();
  ObserverBuilder& observer = builder.observer;
  add_tracks(observer);
  observer.sweep(at(0), 10 * kMs, {{0, 10 * kMs, 0, 1, 2}, {1, 2 * kMs, 3 * kMs, 4, 1}});
  observer.sweep(at(10), 10 * kMs, {{0, 5 * kMs, 0, 1, 2}});
  observer.wait(1, at(15), WaitKind::kLock);
  observer.next_chunk();
  observer.sweep(at(20), 20 * kMs, {{1, 20 * kMs, 0, 1, 1}});
  observer.track_end(1, at(40));
  observer.track_end(0, at(40));
  return builder;
}

const analyze::ThreadStates& of_thread(const std::vector<analyze::ThreadStates>& all,
                                       const load::Profile& profile, int32_t tid) {
  for (size_t i = 0; i < all.size(); ++i)
    if (profile.threads[i].tid == tid) return all[i];
  cr_assert_fail("no thread %d", tid);
  return all[0];
}

void expect_states(const load::Profile& profile, int32_t tid, double running_ms, double ready_ms,
                   double wait_ms) {
  const auto all = analyze::thread_states(profile, {});
  const analyze::ThreadStates& got = of_thread(all, profile, tid);
  // A share has 16 bits.
  cr_expect_float_eq(double(got.running_ns) / kMs, running_ms, 0.01, "thread %d ran %g", tid,
                     double(got.running_ns) / kMs);
  cr_expect_float_eq(double(got.ready_ns) / kMs, ready_ms, 0.01, "thread %d was ready %g", tid,
                     double(got.ready_ns) / kMs);
  cr_expect_float_eq(double(got.waiting_ns()) / kMs, wait_ms, 0.01, "thread %d waited %g", tid,
                     double(got.waiting_ns()) / kMs);
}

bool damaged(const load::Profile& profile, const std::string& words) {
  return std::ranges::any_of(profile.damages, [&](const load::Damage& damage) {
    return damage.file == format::kObserverFile && damage.sentence.find(words) != std::string::npos;
  });
}

}  // namespace

Test(load_observer, switches_come_back) {
  const load::Profile profile = with_switches().load();
  const RunStates& states = profile.run_states;
  check_consistent(profile);
  cr_expect_eq(int(states.source), int(RunStates::Source::kSwitches));
  cr_expect_eq(states.lost, 7);
  cr_expect_eq(states.begin.count, at(0));
  cr_expect_eq(states.end.count, at(20));
  cr_assert_eq(states.tracks.size(), 2);
  cr_expect(states.tracks[0].start_seen && !states.tracks[1].start_seen);
  cr_expect_eq(states.tracks[1].name, "worker");
  cr_expect_eq(states.tracks[1].involuntary_switches, 30);
  cr_expect_eq(states.tracks[1].end.count, at(15));
  // A thread whose start was seen is ready until it is switched in, the other one waits.
  expect_states(profile, 100, 4 + 10, 1, 5);
  expect_states(profile, 101, 5 + 3, 3, 4);
  const auto all = analyze::thread_states(profile, {});
  const analyze::ThreadStates& main = of_thread(all, profile, 100);
  cr_expect_eq(main.wait_ns[size_t(WaitKind::kIo)], 5 * kMs);
  cr_expect_eq(main.quanta, 2);
  cr_expect_eq(main.affinity(), 1);
  cr_expect_eq(of_thread(all, profile, 101).affinity(), 0);
  cr_expect_eq(of_thread(all, profile, 101).processors.size(), 2);
}

Test(load_observer, sweeps_come_back) {
  const load::Profile profile = with_sweeps().load();
  check_consistent(profile);
  cr_expect_eq(int(profile.run_states.source), int(RunStates::Source::kSweeps));
  expect_states(profile, 100, 15, 0, 25);
  expect_states(profile, 101, 22, 3, 15);
  const auto all = analyze::thread_states(profile, {});
  cr_expect_eq(of_thread(all, profile, 101).wait_ns[size_t(WaitKind::kLock)], 10 * kMs);
  cr_expect_eq(of_thread(all, profile, 101).quanta, 5);
}

Test(load_observer, a_sweep_tells_the_processor_that_the_one_before_had_no_time_for) {
  ProfileBuilder builder = two_threads();
  ObserverBuilder& observer = builder.observer;
  add_tracks(observer);
  observer.sweep(at(0), 10 * kMs, {{0, 10 * kMs, 0, 1, 2}});
  observer.sweep(at(10), 10 * kMs, {{0, 10 * kMs, 0, 1, format::kUnknownProcessor}});
  observer.sweep(at(20), 10 * kMs, {{0, 10 * kMs, 0, 0, 3}});
  observer.sweep(at(30), 10 * kMs, {{0, 10 * kMs, 0, 1, 3}});
  const load::Profile profile = builder.load();
  const auto all = analyze::thread_states(profile, {});
  const analyze::ThreadStates& main = of_thread(all, profile, 100);
  cr_expect_eq(main.quanta, 3);
  cr_expect(main.processors == std::vector<uint16_t>({2, 3}));
  cr_expect_eq(main.compared, 1);
  cr_expect_eq(main.same_processor, 1);
}

/// The kernel adds to its sums at ticks, and to waits for a processor when they end.
Test(load_observer, what_a_stretch_cannot_hold_belongs_to_those_before) {
  ProfileBuilder builder = two_threads();
  ObserverBuilder& observer = builder.observer;
  add_tracks(observer);
  for (uint64_t i = 0; i < 10; ++i)  // it ran all the time
    observer.sweep(at(10 * i), 10 * kMs, {{0, (i % 2 ? 12 : 8) * kMs, 0, 1, 0}});
  // Preempted after 4 ms for 35 ms, which is told when it runs again.
  observer.sweep(at(100), 10 * kMs, {{1, 4 * kMs, 0, 1, 0}});
  observer.sweep(at(110), 10 * kMs, {});
  observer.sweep(at(120), 10 * kMs, {});
  observer.sweep(at(130), 10 * kMs, {{1, 1 * kMs, 35 * kMs, 1, 0}});
  observer.track_end(0, at(100));
  observer.track_end(1, at(140));
  const load::Profile profile = builder.load();
  check_consistent(profile);
  expect_states(profile, 100, 100, 0, 0);
  expect_states(profile, 101, 5, 35, 100);
}

/// More than there was room for since its start is lost, and nothing else is.
Test(load_observer, sums_that_cannot_be) {
  ProfileBuilder builder = two_threads();
  add_tracks(builder.observer);
  builder.observer.sweep(at(10), 10 * kMs, {{0, 5 * kMs, 0}, {1, UINT64_MAX, UINT64_MAX}});
  builder.observer.sweep(at(20), 0, {{0, 3 * kMs, 0}});
  builder.observer.sweep(at(20), 10 * kMs, {{0, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}});
  builder.observer.sweep(at(30), UINT64_MAX, {{0, 1, 1}});
  const load::Profile profile = builder.load();
  check_consistent(profile);
  cr_expect(damaged(profile, "impossible time"));
  expect_states(profile, 101, 20, 0, 10);
}

Test(load_observer, a_thread_made_within_a_stretch) {
  ProfileBuilder builder = two_threads();
  ObserverBuilder& observer = builder.observer;
  observer.track(0, 100, 100, at(0), "main");
  observer.sweep(at(0), 10 * kMs, {{0, 10 * kMs, 0}});
  observer.track(1, 100, 101, at(17));
  observer.sweep(at(10), 10 * kMs, {{0, 10 * kMs, 0}, {1, 2 * kMs, 1 * kMs}});
  observer.sweep(at(20), 10 * kMs, {{0, 10 * kMs, 0}});
  observer.track_end(1, at(30));
  const load::Profile profile = builder.load();
  check_consistent(profile);
  expect_states(profile, 101, 2, 1, 10);
}

/// Where records were lost, one processor still runs one thread.
Test(load_observer, lost_records_do_not_leave_two_threads_on_a_processor) {
  ProfileBuilder builder = two_threads();
  ObserverBuilder& observer = builder.observer;
  add_tracks(observer);
  observer.switched(at(1), 0, kIn, 2);
  observer.lost(at(2), 1);
  observer.lost(at(2), UINT64_MAX);
  observer.switched(at(3), 1, kIn, 2);
  observer.switched(at(6), 1, kOutBlocked);
  observer.switched(at(9), 0, kIn, 1);
  observer.track_end(0, at(10));
  const load::Profile profile = builder.load();
  check_consistent(profile);
  cr_expect_eq(profile.run_states.lost, UINT64_MAX);
  expect_states(profile, 100, 3, 7, 0);
  expect_states(profile, 101, 3, 0, 3 + 4);
}

Test(load_observer, events_that_are_not_in_order) {
  ProfileBuilder builder = two_threads();
  ObserverBuilder& observer = builder.observer;
  add_tracks(observer);
  observer.switched(at(8), 0, kOutBlocked);
  observer.next_chunk();
  observer.switched(at(2), 0, kIn, 0);
  observer.track_end(1, at(4));
  observer.next_chunk();
  observer.switched(at(6), 1, kIn, 1);  // after its end
  observer.track_end(0, at(10));
  const load::Profile profile = builder.load();
  check_consistent(profile);
  expect_states(profile, 100, 6, 2, 2);
  expect_states(profile, 101, 0, 0, 4);
}

Test(load_observer, threads_out_of_turn_and_unknown_ones) {
  for (int which = 0; which < 5; ++which) {
    ProfileBuilder builder = two_threads();
    ObserverBuilder& observer = builder.observer;
    add_tracks(observer);
    if (which == 0) observer.track(7, 100, 107, at(1));
    if (which == 1) observer.track_end(2, at(1));
    if (which == 2) observer.switched(at(1), 2, kIn, 0);
    if (which == 3) observer.sweep(at(1), kMs, {{2, kMs, 0}});
    if (which == 4) observer.wait(2, at(1), WaitKind::kLock);
    observer.next_chunk();
    observer.track_end(0, at(5));
    const load::Profile profile = builder.load();
    check_consistent(profile);
    cr_expect(damaged(profile, which == 0 ? "out of turn" : "does not describe"), "case %d", which);
    cr_expect_eq(profile.run_states.tracks.size(), 2);
    cr_expect_eq(profile.run_states.tracks[0].end.count, 0, "case %d: what comes later is not known", which);
    cr_expect_lt(profile.run_states.end.count, at(5), "case %d", which);
  }
}

Test(load_observer, what_a_switch_cannot_be) {
  for (int which = 0; which < 3; ++which) {
    ProfileBuilder builder = two_threads();
    add_tracks(builder.observer);
    if (which == 0) builder.observer.switched(at(1), 0, kIn, load::RunEvent::kMostProcessors);
    if (which == 1) builder.observer.switched(at(1), 0, format::SwitchKind(3));
    if (which == 2) builder.observer.switched(at(1) - at(0) - 5, 0, kOutBlocked);  // far in the future
    const load::Profile profile = builder.load();
    check_consistent(profile);
    const char* words[] = {"processor that cannot be", "unknown kind", "impossible time"};
    cr_expect(damaged(profile, words[which]), "case %d", which);
  }
}

/// Every thread that was observed is in the profile, though no agent saw it; none is there twice.
Test(load_observer, threads_that_no_agent_saw) {
  ProfileBuilder builder = two_threads();
  ObserverBuilder& observer = builder.observer;
  add_tracks(observer);
  observer.track(2, 100, 102, at(1), "raw");
  observer.track(3, 200, 200, at(2), "static", true, 100);
  observer.track(4, 200, 201, at(3), "static");
  observer.switched(at(4), 4, kIn, 0);
  const load::Profile profile = builder.load();
  check_consistent(profile);
  cr_assert_eq(profile.threads.size(), 5);
  cr_assert_eq(profile.processes.size(), 2);
  cr_expect(!profile.processes[0].seen_only && profile.processes[1].seen_only);
  cr_expect_eq(profile.processes[1].pid, 200);
  cr_expect_eq(profile.processes[1].ppid, 100);
  cr_expect_eq(profile.threads[2].process.value, 0);
  cr_expect_eq(profile.threads[2].name, "raw");
  for (size_t i = 0; i < 5; ++i) cr_expect_eq(profile.threads[i].seen_only, i >= 2);
  cr_expect(profile.threads[3].is_main && !profile.threads[4].is_main);
}

Test(load_observer, a_file_of_another_run) {
  ProfileBuilder builder = with_switches();
  builder.observer.session_id[3] = 1;
  const load::Profile profile = builder.load();
  cr_expect(!profile.run_states.known());
  cr_expect(damaged(profile, "another run"));
  cr_expect_eq(profile.threads.size(), 2);
}

Test(load_observer, a_sealed_chunk_with_a_wrong_checksum) {
  test::Files files = with_switches().files();
  auto& file = files[format::kObserverFile];
  file[2 * format::kPageSize + sizeof(format::ChunkHeader) + 5] ^= 1;  // the second chunk
  const load::Profile profile = test::load_files(files);
  check_consistent(profile);
  cr_expect(damaged(profile, "checksum"));
  cr_expect_eq(profile.run_states.tracks.size(), 2);
  cr_expect_eq(profile.run_states.end.count, at(5));
}

Test(load_observer, a_missing_chunk_ends_the_states) {
  ProfileBuilder builder = with_switches();
  builder.observer.next_chunk();
  builder.observer.switched(at(30), 0, kIn, 1);
  test::Files files = builder.files();
  auto& file = files[format::kObserverFile];
  file.erase(file.begin() + 2 * format::kPageSize,
             file.begin() + 3 * format::kPageSize);  // the second of three
  const load::Profile profile = test::load_files(files);
  check_consistent(profile);
  cr_expect_eq(profile.run_states.end.count, at(5));
}

Test(load_observer, cut_off_at_every_byte) {
  for (const bool seal : {true, false}) {
    for (ProfileBuilder builder : {with_switches(), with_sweeps()}) {
      builder.observer.seal = seal;
      test::Files files = builder.files();
      std::vector<uint8_t>& file = files[format::kObserverFile];
      uint64_t end = 0;
      const std::vector<uint8_t> whole = file;
      for (size_t size = 0; size <= whole.size(); ++size) {
        // The rest of a page after its records is zero.
        if (size % format::kPageSize > 400 && size % 500 != 0) continue;
        file.assign(whole.begin(), whole.begin() + ptrdiff_t(size));
        const load::Profile profile = test::load_files(files);
        check_consistent(profile);
        cr_assert_geq(profile.run_states.end.count, end, "%zu bytes tell less than fewer", size);
        end = profile.run_states.end.count;
      }
      cr_expect_gt(end, at(19));
    }
  }
}

Test(load_observer, any_byte_changed) {
  std::mt19937_64 random(5);
  for (ProfileBuilder builder : {with_switches(), with_sweeps()}) {
    builder.observer.seal = false;
    test::Files files = builder.files();
    const std::vector<uint8_t> whole = files[format::kObserverFile];
    for (size_t page = 1; page * format::kPageSize < whole.size(); ++page) {
      for (size_t i = 0; i < 400; ++i) {
        files[format::kObserverFile] = whole;
        files[format::kObserverFile][page * format::kPageSize + i] = uint8_t(random());
        const load::Profile profile = test::load_files(files);
        check_consistent(profile);
        analyze::thread_states(profile, {});
      }
    }
  }
}
