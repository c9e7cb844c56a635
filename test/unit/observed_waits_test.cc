// SPDX-License-Identifier: MIT
// Looks at blocked threads become waits: each stretch of Wait once, whatever hooks saw of it, and whatever
// the file holds. Context: tests.
#include <criterion/criterion.h>

#include <numeric>
#include <random>

#include "test/unit/built_bytes.h"
#include "test/unit/profile_builder.h"
#include "test/unit/scratch.h"
#include "test/unit/time_units.h"
#include "viewer/analyze/concurrency.h"
#include "viewer/analyze/counted_waits.h"
#include "viewer/analyze/thread_states.h"
#include "viewer/load/load.h"
#include "viewer/load/observed_waits.h"
#include "viewer/record/decoded_writer.h"

using namespace varve;
using format::ObjectKind;
using load::RunEvent;
using load::Wait;

namespace {

constexpr int32_t kFutexCall = 202, kGetpidCall = 39;
constexpr uint64_t kWord = 0x5000;

/// One thread: blocked from 10 to 40 ms, then in ten stretches of 1 ms with 1 ms between them until 60 ms.
load::Profile one_thread() {
  load::Profile profile;
  profile.session.elapsed = {100 * kMs};
  profile.processes.emplace_back();
  load::Thread thread;
  thread.process = {0};
  thread.tid = 100;
  thread.track = {0};
  thread.end_time = {100 * kMs};
  profile.threads.push_back(thread);
  load::Track track;
  track.tid = thread.tid;
  track.start_seen = true;
  track.end = thread.end_time;
  profile.run_states.tracks.push_back(track);
  profile.run_states.source = load::RunStates::Source::kSwitches;
  profile.run_states.end = {100 * kMs};
  const auto event = [&](uint64_t ms, bool runs) {
    RunEvent row;
    row.time_ns = ms * kMs;
    row.track = {0};
    row.running = runs ? RunEvent::kWhole : uint16_t(0);
    profile.run_states.events.push_back(row);
  };
  event(0, true), event(10, false);
  for (uint64_t ms = 40; ms < 60; ms += 2) event(ms, true), event(ms + 1, false);
  event(60, true);
  return profile;
}

load::WaitLooks looks_at(std::initializer_list<uint64_t> times_ms, int32_t call = kFutexCall) {
  load::WaitLooks looks;
  looks.modules = {{"/usr/bin/program", {1, 2, 3}}};
  looks.frames = {{0, 0x1234}, {load::WaitLooks::kNoModule, 0x7000}};
  for (const uint64_t ms : times_ms) {
    load::WaitLook look;
    look.time_ns = ms * kMs + kMs / 2;
    look.track = {0};
    look.system_call = call;
    look.arguments = {kWord, 0};
    look.frames = 2;
    looks.looks.push_back(look);
  }
  return looks;
}

std::vector<Wait> waits_of(load::Profile& profile, load::WaitLooks looks) {
  load::PathTree tree(profile);
  load::add_observed_waits(profile, tree, looks);
  return profile.waits.waits;
}

Wait hooked(uint64_t end_ms, uint64_t duration_ms, uint32_t count = 1) {
  return {end_ms * kMs, duration_ms * kMs, 0x10, {0}, {0}, count, ObjectKind::kMutex};
}

uint64_t sum_of(const std::vector<Wait>& waits) {
  uint64_t sum = 0;
  for (const Wait& wait : waits) sum += wait.duration_ns;
  return sum;
}

Test(observed_waits, a_look_is_a_wait_as_long_as_its_stretch) {
  load::Profile profile = one_thread();
  const std::vector<Wait> waits = waits_of(profile, looks_at({12, 20, 39}));
  // The three looks are at one wait; the last one stands for the short ones behind it, too.
  cr_assert_eq(waits.size(), 2u);
  const Wait& wait = waits[0];
  cr_expect_eq(wait.end_ns, 40 * kMs);
  cr_expect_eq(wait.duration_ns, 30 * kMs);
  cr_expect(wait.observed && wait.kind == ObjectKind::kFutex && wait.object == kWord && wait.count == 1);
  cr_expect(waits[1].observed && waits[1].count == 10 && waits[1].duration_ns == 10 * kMs);
  const load::Path& leaf = profile.paths[wait.path.index()];
  const load::Site& site = profile.sites[leaf.site.index()];
  cr_expect_eq(site.vaddr.value, 0x1234u);
  cr_expect_eq(profile.modules[site.module.index()].path, "/usr/bin/program");
  const load::Site& caller = profile.sites[profile.paths[leaf.parent.index()].site.index()];
  cr_expect(profile.modules[caller.module.index()].anonymous && caller.vaddr.value == 0x7000);
}

Test(observed_waits, what_a_hook_saw_counts_once) {
  load::Profile profile = one_thread();
  profile.waits.waits = {hooked(40, 30)};
  const std::vector<Wait> waits = waits_of(profile, looks_at({20}));
  cr_expect_eq(waits.size(), 1u, "the look says nothing new");
  cr_expect(!waits[0].observed && waits[0].kind == ObjectKind::kMutex);
}

/// A condition whose mutex had to be waited for after the signal.
Test(observed_waits, what_lies_around_a_hooks_wait_is_one_too) {
  load::Profile profile = one_thread();
  profile.waits.waits = {hooked(40, 10), hooked(40, 30)};
  const std::vector<Wait> waits = waits_of(profile, looks_at({20, 35}));
  cr_assert_eq(waits.size(), 2u);
  cr_expect(!waits[0].observed && !waits[1].observed);
}

/// Killed at 40 ms: the kernel wakes the thread, and holds it for another millisecond.
Test(observed_waits, to_be_held_for_a_core_dump_is_no_wait) {
  load::Profile profile = one_thread();
  std::vector<RunEvent>& events = profile.run_states.events;
  events.resize(5);
  events[2].time_ns = 40 * kMs, events[3].time_ns = 40 * kMs + kMs / 10;
  events[4].time_ns = 41 * kMs, events[4].ended = true, events[4].running = 0;
  for (const bool killed : {true, false}) {
    load::Profile made = profile;
    if (killed) made.threads[0].end_time = {};
    const std::vector<Wait> waits = waits_of(made, looks_at({20, 40}));
    uint32_t count = 0;
    for (const Wait& wait : waits) count += wait.count;
    cr_expect_eq(count, killed ? 1u : 2u);
  }
}

Test(observed_waits, a_hook_without_a_stack_gets_that_of_the_look) {
  load::Profile profile = one_thread();
  load::PathTree tree(profile);
  profile.waits.waits = {hooked(40, 30)};
  const PathId none = tree.child(load::PathTree::root(), tree.site(load::SpecialSite::kNotTaken));
  profile.waits.waits[0].path = none;
  load::WaitLooks looks = looks_at({20});
  load::add_observed_waits(profile, tree, looks);
  cr_assert_eq(profile.waits.waits.size(), 1u);
  cr_expect_neq(profile.waits.waits[0].path, none);
  cr_expect(profile.waits.waits[0].observed_stack && !profile.waits.waits[0].observed);
}

/// From 10 to 30 ms, and in a signal handler meanwhile from 15 to 20: the other 10 ms are the look's.
Test(observed_waits, what_lies_in_two_waits_of_hooks_is_explained_once) {
  load::Profile profile = one_thread();
  profile.waits.waits = {hooked(20, 5), hooked(30, 20)};
  std::vector<Wait> waits = waits_of(profile, looks_at({45}));
  std::erase_if(waits, [](const Wait& wait) { return !wait.observed; });
  cr_expect_leq(sum_of(waits), 20 * kMs);
  cr_expect_geq(sum_of(waits), 20 * kMs - 2, "but for rounding");
}

Test(observed_waits, sums_of_short_waits_are_not_told_again) {
  load::Profile profile = one_thread();
  profile.waits.waits = {hooked(60, 6, 600)};
  const std::vector<Wait> waits = waits_of(profile, looks_at({45}));
  // One short wait by itself; of the 39 ms that are left, 6 are the hook's.
  cr_expect_leq(sum_of(waits), 40 * kMs);
  cr_expect_geq(sum_of(waits), 40 * kMs - 2, "but for rounding");
}

Test(observed_waits, calls_of_which_nothing_can_be_said_stay_other_waits) {
  load::Profile profile = one_thread();
  cr_expect(waits_of(profile, looks_at({20}, kGetpidCall)).empty());
}

Test(observed_waits, looks_where_the_thread_ran_or_did_not_live_say_nothing_of_a_stretch) {
  load::Profile profile = one_thread();
  cr_expect(waits_of(profile, looks_at({700, 900})).empty());
}

/// The thread's life begins in one long sweep, in which it ran a tenth, and ends in another.
Test(observed_waits, a_sweep_from_before_the_thread_counts_as_far_as_that_lives) {
  load::Profile profile = one_thread();
  profile.run_states.source = load::RunStates::Source::kSweeps;
  auto& events = profile.run_states.events;
  events.resize(2);
  events[0].running = uint16_t(RunEvent::kWhole / 10);
  events[0].quanta = 7;
  events[1].time_ns = 80 * kMs;
  events[1].running = uint16_t(RunEvent::kWhole / 2);
  profile.threads[0].start_time = profile.threads[0].told_start = {20 * kMs};
  profile.threads[0].end_time = {90 * kMs};
  const std::vector<Wait> waits = waits_of(profile, looks_at({70}));
  cr_assert_eq(waits.size(), 1u);
  // 0.9 of 60 ms and half of 10; 60/80 of seven waits and the one.
  cr_expect(waits[0].duration_ns > 58 * kMs && waits[0].duration_ns < 60 * kMs, "%lu",
            ulong(waits[0].duration_ns));
  cr_expect_eq(waits[0].count, 6u);
  cr_expect_eq(waits[0].end_ns, 90 * kMs);
}

/// A profile whose observer file has a module and a look.
test::ProfileBuilder with_look() {
  test::ProfileBuilder builder;
  const size_t process = builder.add_process(100);
  builder.process(process).start_time_ns = kMs;
  builder.add_thread(process, 100, "main");
  for (auto& thread : builder.process(process).threads) thread.start_time_ns = kMs;
  builder.observer.start_time_ns = kMs;
  builder.observer.track(0, 100, 100, kMs, "main", true);
  builder.observer.switched(2 * kMs, 0, format::SwitchKind::kIn, 0);
  builder.observer.switched(5 * kMs, 0, format::SwitchKind::kOutBlocked);
  test::Bytes records;
  format::WaitModuleRecord module{};
  module.build_id_size = 2;
  test::Bytes record = test::record_of(module);
  for (const char byte : {'\1', '\2', '/', 'x', '\0'}) record.push_back(uint8_t(byte));
  test::append_record(records, format::RecordKind::kWaitModule, 0, record);
  format::WaitStackRecord look{};
  look.time_ns = 20 * kMs;
  look.system_call = kFutexCall;
  look.frames = 2;
  look.arguments[0] = kWord;
  record = test::record_of(look);
  for (const uint8_t number : {1, 0x11, 1, 0x22}) test::append_varint(record, number);
  test::append_record(records, format::RecordKind::kWaitStack, 0, record);
  builder.observer.raw(records);
  builder.observer.switched(45 * kMs, 0, format::SwitchKind::kIn, 0);
  builder.observer.track_end(0, 50 * kMs);
  return builder;
}

Test(observed_waits, come_back_from_the_file) {
  const load::Profile profile = with_look().load();
  cr_expect(profile.damages.empty());
  cr_assert_eq(profile.waits.waits.size(), 1u);
  cr_expect_eq(profile.waits.waits[0].duration_ns, 40 * kMs);
  cr_expect_eq(profile.waits.waits[0].object, kWord);
}

Test(observed_waits, are_added_again_to_decoded_samples) {
  const test::Scratch scratch;
  test::ProfileBuilder builder = with_look();
  for (uint64_t i = 0; i < 20; ++i) builder.add_sample(0, 0, {0x900000 + i, 0x910000}, kMs, (3 + i) * kMs);
  builder.write(scratch.path);
  const auto first = load::load(scratch.path);
  cr_assert(first.has_value() && first->waits.waits.size() == 1);
  cr_assert(record::write_decoded_file(*first).has_value());
  bool decoded = false;
  const auto again = load::load(scratch.path, {.progress = [&](uint64_t, uint64_t) { decoded = true; }});
  cr_assert(again.has_value());
  cr_expect(!decoded, "the stored samples were not believed");
  cr_expect(again->paths == first->paths && again->sites == first->sites);
  cr_assert_eq(again->waits.waits.size(), 1u);
  cr_expect_eq(again->waits.waits[0].path, first->waits.waits[0].path);
  cr_expect_eq(again->waits.waits[0].duration_ns, first->waits.waits[0].duration_ns);
}

Test(observed_waits, any_byte_changed) {
  std::mt19937_64 random(7);
  test::ProfileBuilder builder = with_look();
  builder.observer.seal = false;
  test::Files files = builder.files();
  const std::vector<uint8_t> whole = files[format::kObserverFile];
  for (size_t i = 0; i < 4 * 400; ++i) {
    std::vector<uint8_t>& file = files[format::kObserverFile] = whole;
    file[format::kPageSize + i % 400] = uint8_t(random());
    const load::Profile profile = test::load_files(files);
    uint64_t waits = 0;
    for (const Wait& wait : profile.waits.waits) {
      cr_assert(wait.path.index() < profile.paths.size() && wait.thread.index() < profile.threads.size());
      cr_assert_leq(wait.duration_ns, wait.end_ns);
    }
    uint64_t most = 2;  // rounding
    for (const auto& states : analyze::thread_states(profile, {})) most += states.waiting_ns();
    for (const auto& counted : analyze::counted_waits(profile, {}, analyze::concurrency(profile, {}, {})))
      waits += counted.time_ns;
    if (!profile.run_states.known()) continue;
    cr_assert_leq(waits, most, "byte %zu", i);
  }
}

}  // namespace
