// SPDX-License-Identifier: MIT
// Which thread of the agents each track of the observer is, where one number is several of them. Context:
// tests.
#include <criterion/criterion.h>
#include <fmt/format.h>

#include "test/unit/observed_times.h"
#include "test/unit/profile_builder.h"
#include "viewer/analyze/thread_states.h"

using namespace varve;
using test::at;
using test::BuiltProcess;
using test::check_consistent;
using test::ObserverBuilder;
using test::ProfileBuilder;
using enum format::SwitchKind;

namespace {

/// A program of process 100 with one thread, from and until so many ms.
BuiltProcess& add_image(ProfileBuilder& builder, uint32_t image, uint64_t begin_ms, uint64_t end_ms) {
  const size_t index = builder.add_process(100, fmt::format("/usr/bin/program{}", image), image);
  builder.add_thread(index, 100, "main");
  BuiltProcess& process = builder.process(index);
  process.start_time_ns = process.threads[0].start_time_ns = at(begin_ms);
  process.threads[0].end_time_ns = at(end_ms);
  return process;
}

}  // namespace

/// One track, three programs one after the other: each has the time from the end of the one before to its
/// own.
Test(join_tracks, an_exec_shares_out_a_track) {
  ProfileBuilder builder;
  for (uint32_t image = 0; image < 3; ++image) add_image(builder, image, 10 * image, 10 * image + 9);
  ObserverBuilder& observer = builder.observer;
  observer.start_time_ns = at(0);
  observer.track(0, 100, 100, at(0), "main", true);
  observer.switched(at(0), 0, kIn, 0);
  observer.switched(at(15), 0, kOutBlocked);
  observer.track_end(0, at(29));
  const load::Profile profile = builder.load();
  check_consistent(profile);
  cr_assert_eq(profile.threads.size(), 3);
  const auto states = analyze::thread_states(profile, {});
  const uint64_t running[] = {9, 6, 0}, waiting[] = {0, 4, 10};
  for (size_t i = 0; i < 3; ++i) {
    cr_expect_eq(profile.threads[i].track.value, 0);
    cr_expect_eq(states[i].running_ns, running[i] * kMs);
    cr_expect_eq(states[i].waiting_ns(), waiting[i] * kMs);
  }
  cr_expect_eq(states[0].voluntary + states[1].voluntary, 1);
}

/// An exec after the last sweep that saw the thread is not its end.
Test(join_tracks, the_last_of_two_programs_ends_a_track_of_sweeps) {
  ProfileBuilder builder;
  for (uint32_t image = 0; image < 2; ++image) {
    BuiltProcess& process = add_image(builder, image, 10 * image, 10 + 2 * image);
    process.threads[0].start_cpu_ns = 10 * image * kMs;
    process.threads[0].end_cpu_ns = (10 + 2 * image) * kMs;
    process.record.end_kind = uint32_t(image ? format::ImageEnd::kExit : format::ImageEnd::kExec);
  }
  ObserverBuilder& observer = builder.observer;
  observer.start_time_ns = at(0);
  observer.track(0, 100, 100, at(0), "main", true);
  observer.sweep(at(0), 8 * kMs, {{0, 8 * kMs, 0}});
  observer.track_end(0, at(18));
  const load::Profile profile = builder.load();
  cr_assert_eq(profile.run_states.tracks[0].end.count, at(12));
  cr_expect_eq(analyze::thread_states(profile, {})[1].running_ns, 2 * kMs);
}

/// After the last exec no agent began: the rest of the track is a program of its own, which nobody sampled.
Test(join_tracks, an_exec_of_what_loads_no_agent) {
  ProfileBuilder builder;
  const size_t process = builder.add_process(100, "/usr/bin/setpriv", 3);
  builder.process(process).start_time_ns = at(0);
  builder.process(process).record.end_kind = uint32_t(format::ImageEnd::kExec);
  builder.process(process).record.end_time_ns = at(10);
  builder.add_thread(process, 100, "setpriv");
  builder.process(process).threads[0].start_time_ns = at(0);
  builder.process(process).threads[0].end_time_ns = at(10);
  ObserverBuilder& observer = builder.observer;
  observer.start_time_ns = at(0);
  observer.track(0, 100, 100, at(0), "setpriv", true);
  observer.track(0, 100, 100, at(11), "server", true);
  observer.switched(at(0), 0, kIn, 0);
  observer.track_end(0, at(30));
  const load::Profile profile = builder.load();
  check_consistent(profile);
  cr_assert_eq(profile.threads.size(), 2);
  const load::Thread& server = profile.threads[1];
  cr_expect(server.seen_only && server.is_main);
  cr_expect_eq(server.start_time.count, at(10));
  cr_expect_eq(server.end_time.count, at(30));
  const load::Process& image = profile.processes[server.process.index()];
  cr_expect_eq(image.pid, 100);
  cr_expect_eq(image.image, 4);
  cr_expect_eq(image.exe, "server");
  const auto states = analyze::thread_states(profile, {});
  cr_expect_eq(states[0].running_ns, 10 * kMs);
  cr_expect_eq(states[1].running_ns, 20 * kMs);
}

/// The next image of that number is another process's, whose clock began anew: the number was used again.
Test(join_tracks, an_exec_before_the_number_is_used_again) {
  ProfileBuilder builder;
  for (uint32_t image = 0; image < 2; ++image) {
    const size_t process = builder.add_process(100, "/usr/bin/sh", image);
    builder.process(process).start_time_ns = at(50 * image);
    builder.add_thread(process, 100, "sh");
    builder.process(process).threads[0].start_time_ns = at(50 * image);
    builder.process(process).threads[0].end_time_ns = at(10 + 50 * image);
  }
  builder.process(0).record.end_kind = uint32_t(format::ImageEnd::kExec);
  builder.process(0).record.end_time_ns = at(10);
  builder.process(0).record.end_cpu_ns = 9 * kMs;
  ObserverBuilder& observer = builder.observer;
  observer.start_time_ns = at(0);
  observer.track(0, 100, 100, at(0), "sh", true);
  observer.track(0, 100, 100, at(11), "static", true);
  observer.track_end(0, at(30));
  observer.track(1, 100, 100, at(50), "sh", true);
  observer.track_end(1, at(60));
  const load::Profile profile = builder.load();
  check_consistent(profile);
  cr_assert_eq(profile.threads.size(), 3);
  const load::Thread& last = profile.threads[2];
  cr_expect(last.seen_only && last.is_main);
  cr_expect_eq(last.start_time.count, at(10));
  cr_expect_eq(last.end_time.count, at(30));
}

/// A thread that is not the first executes a program, and the kernel kills the first: what that takes on a
/// busy machine is no program of its own, as the next one has an agent.
Test(join_tracks, an_exec_by_another_thread) {
  ProfileBuilder builder;
  for (uint32_t image = 0; image < 2; ++image) {
    const size_t process = builder.add_process(100, fmt::format("/usr/bin/program{}", image), image);
    builder.process(process).start_time_ns = at(10 * image);
    builder.add_thread(process, 100, "main");
    builder.process(process).threads[0].start_time_ns = at(10 * image);
    builder.process(process).threads[0].end_time_ns = at(5 + 15 * image);
  }
  builder.process(0).record.end_kind = uint32_t(format::ImageEnd::kExec);
  builder.process(0).record.end_time_ns = at(5);
  ObserverBuilder& observer = builder.observer;
  observer.start_time_ns = at(0);
  observer.track(0, 100, 100, at(0), "main", true);
  observer.track(1, 100, 100, at(9), "main", true);
  observer.track_end(0, at(9));
  observer.track_end(1, at(20));
  const load::Profile profile = builder.load();
  check_consistent(profile);
  cr_assert_eq(profile.processes.size(), 2);
  cr_assert_eq(profile.threads.size(), 2);
  cr_expect_eq(profile.threads[0].end_time.count, at(9));
  cr_expect_eq(profile.threads[1].track.value, 1);
}

/// Its clock, which says since when it must have lived where a sweep found it late, had gone before the exec.
Test(join_tracks, what_a_thread_used_before_its_exec_is_not_its_life) {
  ProfileBuilder builder;
  const size_t process = builder.add_process(100, "/usr/bin/program", 1);
  builder.process(process).start_time_ns = at(10);
  builder.add_thread(process, 100, "main");
  format::ThreadRecord& thread = builder.process(process).threads[0];
  thread.start_time_ns = at(10);
  thread.end_time_ns = at(20);
  thread.start_cpu_ns = 9 * kMs;
  thread.end_cpu_ns = 15 * kMs;
  builder.observer.start_time_ns = at(0);
  builder.observer.track(0, 100, 100, at(12), "main");
  builder.observer.track_end(0, at(20));
  const load::Profile profile = builder.load();
  cr_assert_eq(profile.threads.size(), 1);
  cr_expect_eq(profile.threads[0].start_time.count, at(10));
}

/// Numbers are used again: a thread belongs to the track that lived when it did.
Test(join_tracks, a_number_that_is_used_again) {
  ProfileBuilder builder;
  const size_t process = builder.add_process(100);
  builder.process(process).start_time_ns = at(0);
  for (int i = 0; i < 2; ++i) {
    builder.add_thread(process, 101);
    builder.process(process).threads.back().start_time_ns = at(10 * uint64_t(i) + 1);
    builder.process(process).threads.back().end_time_ns = at(10 * uint64_t(i) + 4);
  }
  for (uint32_t i = 0; i < 2; ++i) {
    builder.observer.track(i, 100, 101, at(10 * i));
    builder.observer.track_end(i, at(10 * i + 5));
  }
  const load::Profile profile = builder.load();
  cr_assert_eq(profile.threads.size(), 2);
  cr_expect_eq(profile.threads[0].track.value, 0);
  cr_expect_eq(profile.threads[1].track.value, 1);
}

namespace {

/// A thread of a process in a pid namespace of its own, in milliseconds.
struct Inside {
  int32_t tid;
  uint64_t begin, end;
};

/// Its first thread is 2 there, and the process 100 outside.
void add_process_inside(ProfileBuilder& builder, std::initializer_list<Inside> threads) {
  const size_t process = builder.add_process(2);
  builder.process(process).start_time_ns = at(1);
  for (const Inside& each : threads) {
    builder.add_thread(process, each.tid);
    builder.process(process).threads.back().start_time_ns = at(each.begin);
    builder.process(process).threads.back().end_time_ns = at(each.end);
  }
  builder.add_text("outside_pid", "host-2-0.agent 100");
}

}  // namespace

/// A process in a pid namespace of its own, and the recorder that told its number outside; 100 there is
/// another process, which only the observer saw.
Test(join_tracks, a_process_of_two_numbers_is_one) {
  ProfileBuilder builder;
  add_process_inside(builder, {{2, 1, 20}, {3, 5, 20}, {4, 6, 20}});
  ObserverBuilder& observer = builder.observer;
  observer.track(0, 100, 100, at(0), "main", true);
  observer.track(1, 100, 101, at(5), "first", true);
  observer.track(2, 100, 102, at(6), "second", true);
  observer.track(3, 100, 103, at(15), "raw", true);  // no agent's
  observer.track(4, 2, 2, at(0), "strange", true);
  for (uint32_t i = 0; i < 5; ++i) observer.track_end(i, at(21));
  const load::Profile profile = builder.load();
  check_consistent(profile);
  cr_assert_eq(profile.threads.size(), 5);
  for (uint32_t i = 0; i < 3; ++i) cr_expect_eq(profile.threads[i].track.value, i);
  cr_expect_eq(profile.threads[3].tid, 103);
  cr_expect_eq(profile.threads[3].process.value, 0, "the same process");
  cr_expect_eq(profile.threads[4].name, "strange");
  cr_expect_eq(profile.threads[4].process.value, 1);
  cr_expect_eq(profile.processes.size(), 2);
}

/// Sweeps that come late may find threads in any order and long after they began; their numbers inside tell
/// whose they are.
Test(join_tracks, threads_of_two_numbers_are_found_by_them_however_late) {
  ProfileBuilder builder;
  add_process_inside(builder, {{2, 2, 400}, {3, 3, 400}, {4, 4, 400}});
  ObserverBuilder& observer = builder.observer;
  observer.track(0, 100, 100, at(0), "main", true, 1, 2);
  observer.track(1, 100, 102, at(5), "second", false, 1, 4);
  observer.track(2, 100, 101, at(90), "first", false, 1, 3);
  for (uint32_t i = 0; i < 3; ++i) observer.track_end(i, at(401));
  const load::Profile profile = builder.load();
  check_consistent(profile);
  cr_assert_eq(profile.threads.size(), 3);
  const uint32_t expected[] = {0, 2, 1};
  for (uint32_t i = 0; i < 3; ++i) cr_expect_eq(profile.threads[i].track.value, expected[i]);
}

/// One that lived between two sweeps has no track, and that of another which began then is not its.
Test(join_tracks, a_track_of_another_number_is_not_taken) {
  ProfileBuilder builder;
  add_process_inside(builder, {{2, 2, 400}, {7, 7, 8}});
  ObserverBuilder& observer = builder.observer;
  observer.track(0, 100, 100, at(0), "main", true, 1, 2);
  observer.track(1, 100, 109, at(10), "raw", false, 1, 9);
  for (uint32_t i = 0; i < 2; ++i) observer.track_end(i, at(401));
  const load::Profile profile = builder.load();
  check_consistent(profile);
  cr_assert_eq(profile.threads.size(), 3);
  cr_expect_neq(profile.threads[1].track.value, 1);
  cr_expect_eq(profile.threads[2].name, "raw");
  cr_expect_eq(profile.threads[2].track.value, 1);
}

Test(join_tracks, numbers_outside_that_cannot_be) {
  for (const char* text : {"", "host-2-0.agent", "host-2-0.agent ", "host-2-0.agent x", "host-2-0.agent -5",
                           "host-2-0.agent 99999999999", " 100", "host-2-1.agent 100"}) {
    ProfileBuilder builder;
    const size_t process = builder.add_process(2);
    builder.process(process).start_time_ns = at(1);
    builder.add_thread(process, 2);
    builder.add_text("outside_pid", text);
    builder.observer.track(0, 2, 2, at(0), "main", true);
    const load::Profile profile = builder.load();
    cr_expect_eq(profile.threads.size(), 1, "'%s'", text);
    cr_expect_eq(profile.threads[0].track.value, 0, "'%s'", text);
  }
}
