// SPDX-License-Identifier: MIT
// The ledger's arithmetic: start-up, residual, paused, lost and not sampled time, exec chains, and that rows
// add up. Context: tests.
#include <criterion/criterion.h>

#include <algorithm>

#include "test/unit/profile_builder.h"
#include "test/unit/time_units.h"

using namespace varve;
using namespace varve::test;
using load::SpecialSite;

namespace {

/// Sum of the rows whose leaf is the special site.
uint64_t time_of(const load::Profile& profile, SpecialSite kind) {
  uint64_t sum = 0;
  for (size_t row = 0; row < profile.samples.size(); ++row) {
    const auto& leaf = profile.paths[profile.samples.path[row].index()];
    if (profile.samples.path[row].index() == 0) continue;
    const auto& site = profile.sites[leaf.site.index()];
    if (site.special() && site.kind() == kind && profile.samples.ticks[row] == 0)
      sum += profile.samples.weight_ns[row];
  }
  return sum;
}

void expect_balance(const load::Profile& profile) {
  uint64_t sum = 0;
  for (uint64_t weight : profile.samples.weight_ns) sum += weight;
  cr_assert_eq(sum, (profile.sampled + profile.residual + profile.unsampled).count);
  cr_assert_geq(sum, profile.kernel_cpu.count);
}

/// A process with one thread, 20 ms sampled.
size_t add_simple(ProfileBuilder& builder, int32_t pid, uint32_t image = 0) {
  size_t process = builder.add_process(pid, "/bin/a", image);
  builder.add_thread(process, pid);
  builder.add_module(process, {.path = "/bin/a", .start = 0x1000, .end = 0x2000, .bias = 0x1000});
  builder.add_sample(process, 0, {0x1010});
  builder.add_sample(process, 0, {0x1020});
  return process;
}

}  // namespace

Test(load_ledger, parts_of_one_thread) {
  ProfileBuilder builder;
  size_t process = add_simple(builder, 1);
  auto& built = builder.process(process);
  auto& thread = built.threads[0];
  built.record.start_cpu_ns = thread.start_cpu_ns = 3 * kMs;
  thread.paused_ns = 5 * kMs;
  thread.last_cpu_ns = (3 + 20 + 5 + 7) * kMs;  // 7 ms in samples that were lost
  thread.end_cpu_ns = thread.last_cpu_ns + 2 * kMs;
  builder.add_exit(1, 40 * kMs, 1 * kMs);
  auto profile = builder.load();
  cr_assert_eq(profile.sampled.count, 20 * kMs);
  cr_assert_eq(time_of(profile, SpecialSite::kStartUp), 3 * kMs);
  cr_assert_eq(time_of(profile, SpecialSite::kPaused), 5 * kMs);
  cr_assert_eq(time_of(profile, SpecialSite::kLost), 7 * kMs);
  cr_assert_eq(time_of(profile, SpecialSite::kResidual), 2 * kMs);
  cr_assert_eq(time_of(profile, SpecialSite::kNotSampled), (41 - 37) * kMs);
  cr_assert_eq(profile.threads[0].residual.count, 2 * kMs);
  cr_assert_eq(profile.residual.count, 5 * kMs);
  cr_assert_eq(profile.unsampled.count, (5 + 7 + 4) * kMs);
  expect_balance(profile);
}

Test(load_ledger, clocks_ahead_of_the_kernel_are_the_total) {
  ProfileBuilder builder;
  add_simple(builder, 1);
  builder.close_accounts();
  builder.add_exit(1, 12 * kMs, 0);
  auto profile = builder.load();
  cr_assert_eq(profile.kernel_cpu.count, 12 * kMs);
  cr_assert_eq(profile.sampled.count, 20 * kMs);
  cr_assert_eq(profile.unsampled.count, 0);
  expect_balance(profile);
}

Test(load_ledger, exec_chain_counts_each_time_once) {
  ProfileBuilder builder;
  // A process that execs twice; its clock goes on: 20 ms, 4 ms of exec and start-up, 20 ms, 6 ms, 20 ms.
  uint64_t clock = 0;
  for (uint32_t image = 0; image < 3; ++image) {
    size_t process = add_simple(builder, 50, image);
    auto& built = builder.process(process);
    clock += (image == 0 ? 0 : image == 1 ? 4 : 6) * kMs;
    built.record.start_cpu_ns = built.threads[0].start_cpu_ns = clock;
    built.threads[0].last_cpu_ns = built.threads[0].end_cpu_ns = clock += 20 * kMs;
    built.record.end_cpu_ns = clock;
    built.record.end_kind = uint32_t(image < 2 ? format::ImageEnd::kExec : format::ImageEnd::kExit);
  }
  auto profile = builder.load();
  cr_assert_eq(profile.processes.size(), 3);
  cr_assert_eq(profile.kernel_cpu.count, 70 * kMs, "without exits: the last image's process clock");
  cr_assert_eq(profile.sampled.count, 60 * kMs);
  cr_assert_eq(time_of(profile, SpecialSite::kStartUp), 10 * kMs);
  cr_assert_eq(profile.unsampled.count, 0);
  expect_balance(profile);
}

Test(load_ledger, a_pid_used_again_is_another_process) {
  ProfileBuilder builder;
  for (uint32_t image = 0; image < 2; ++image) {
    size_t process = add_simple(builder, 50, image);
    auto& built = builder.process(process);
    built.record.start_cpu_ns = built.threads[0].start_cpu_ns = 2 * kMs;
    built.threads[0].last_cpu_ns = built.threads[0].end_cpu_ns = built.record.end_cpu_ns = 22 * kMs;
    built.record.end_kind = uint32_t(image == 0 ? format::ImageEnd::kExit : format::ImageEnd::kUnknown);
  }
  auto profile = builder.load();
  cr_assert_eq(time_of(profile, SpecialSite::kStartUp), 4 * kMs);
  cr_assert_eq(profile.kernel_cpu.count, 44 * kMs);
  expect_balance(profile);
}

Test(load_ledger, a_killed_process_has_its_last_tick) {
  ProfileBuilder builder;
  size_t process = add_simple(builder, 1);
  builder.process(process).threads[0].last_cpu_ns = 20 * kMs;  // no end
  auto profile = builder.load();
  cr_assert_eq(profile.residual.count, 0);
  cr_assert_eq(profile.kernel_cpu.count, 20 * kMs);
  cr_assert(profile.processes[0].end == format::ImageEnd::kUnknown);
  expect_balance(profile);
}

Test(load_ledger, residual_time_stands_below_the_start_routine) {
  ProfileBuilder builder;
  size_t process = builder.add_process(1);
  builder.add_thread(process, 1);
  builder.add_module(process, {.path = "/bin/a", .start = 0x1000, .end = 0x2000, .bias = 0x1000});
  for (int32_t tid = 2; tid < 12; ++tid) {
    uint32_t thread = builder.add_thread(process, tid);
    builder.process(process).threads[thread].start_routine = 0x1400;
    builder.process(process).threads[thread].end_cpu_ns = 3 * kMs;  // too short for a tick
  }
  auto profile = builder.load();
  cr_assert_eq(profile.sample_count, 0);
  cr_assert_eq(profile.residual.count, 30 * kMs);
  size_t rows = 0;
  for (size_t row = 0; row < profile.samples.size(); ++row) {
    const auto& leaf = profile.paths[profile.samples.path[row].index()];
    cr_assert(profile.sites[leaf.site.index()].special());
    const auto& above = profile.paths[leaf.parent.index()];
    cr_assert_eq(profile.sites[above.site.index()].vaddr.value, 0x400);
    cr_assert(above.parent.index() == 0);
    ++rows;
  }
  cr_assert_eq(rows, 10);
  expect_balance(profile);
}

/// A process whose main thread ran 20 ms and whose `threads` others 3 ms each, the process clock 1 ms longer.
static load::Profile with_ended_threads(int threads, format::ImageEnd how) {
  ProfileBuilder builder;
  size_t process = add_simple(builder, 1);
  auto& built = builder.process(process);
  built.threads[0].last_cpu_ns = built.threads[0].end_cpu_ns = 20 * kMs;
  for (int32_t tid = 2; tid < 2 + threads; ++tid) {
    const uint32_t thread = builder.add_thread(process, tid);
    built.threads[thread].start_cpu_ns = 1 * kMs;
    built.threads[thread].end_cpu_ns = 3 * kMs;
  }
  built.record.end_cpu_ns = (20 + 3 * uint64_t(threads) + 1) * kMs;
  built.record.end_kind = uint32_t(how);
  builder.add_exit(1, built.record.end_cpu_ns, 0);
  return builder.load();
}

Test(load_ledger, what_ended_threads_took_after_their_last_clock) {
  auto profile = with_ended_threads(20, format::ImageEnd::kExit);
  cr_assert_eq(profile.threads[0].residual.count, 0, "the main thread has not ended early");
  cr_assert_eq(profile.threads[1].residual.count, 2 * kMs + 50'000);
  cr_assert_eq(profile.unsampled.count, 0);
  cr_assert_eq(profile.threads[1].end_cpu.count, 3 * kMs + 50'000);
  expect_balance(profile);
}

/// The kernel records an exit while it still works on it: the track goes on until the thread's end.
Test(load_ledger, ended_threads_live_on_after_their_exits) {
  ProfileBuilder builder;
  const size_t process = add_simple(builder, 1);
  auto& built = builder.process(process);
  built.threads[0].last_cpu_ns = built.threads[0].end_cpu_ns = 20 * kMs;
  builder.observer.start_time_ns = 1 * kMs;
  builder.observer.track(0, 1, 1, 1 * kMs, "main", true);
  for (int32_t tid : {2, 3}) {
    auto& thread = built.threads[builder.add_thread(process, tid)];
    thread.start_time_ns = 10 * kMs;
    thread.end_time_ns = 12 * kMs;
    thread.end_cpu_ns = 2 * kMs;
    builder.observer.track(uint32_t(tid) - 1, 1, tid, 10 * kMs, "worker", true);
    builder.observer.switched(10 * kMs, uint32_t(tid) - 1, format::SwitchKind::kIn, uint64_t(tid) - 2);
  }
  builder.observer.track_end(1, 12 * kMs + 10'000);
  builder.observer.track_end(2, 12 * kMs + 30'000);
  builder.observer.track_end(0, 40 * kMs);
  built.record.end_cpu_ns = 24 * kMs + 40'000;
  built.record.end_kind = uint32_t(format::ImageEnd::kExit);
  builder.add_exit(1, built.record.end_cpu_ns, 0);
  auto profile = builder.load();
  const auto& tracks = profile.run_states.tracks;
  cr_assert_eq(profile.threads[1].end_cpu.count, 2 * kMs + 20'000);
  cr_assert_eq(profile.threads[1].end_time.count, 12 * kMs + 20'000);
  cr_assert_eq(tracks[profile.threads[1].track.index()].end.count, 12 * kMs + 20'000);
  cr_assert_eq(tracks[profile.threads[2].track.index()].end.count, 12 * kMs + 30'000);
  cr_assert(std::ranges::is_sorted(profile.run_states.events, {}, &load::RunEvent::time_ns));
  expect_balance(profile);
}

/// A process whose own clocks end 20 ms after its begin, at 30 ms, and that was reaped at `reaped_ns`, when
/// the kernel had charged 25 ms to it and 3 to its child, of which it knows.
load::Profile with_reaped_process(uint64_t reaped_ns, format::ImageEnd end = format::ImageEnd::kExit,
                                  uint64_t children_cpu_ns = 3 * kMs) {
  ProfileBuilder builder;
  const size_t process = add_simple(builder, 1);
  auto& built = builder.process(process);
  built.threads[0].last_cpu_ns = built.threads[0].end_cpu_ns = built.record.end_cpu_ns = 20 * kMs;
  built.threads[0].end_time_ns = built.record.end_time_ns = 30 * kMs;
  built.record.children_cpu_ns = children_cpu_ns;
  built.record.end_kind = uint32_t(end);
  builder.observer.start_time_ns = 1 * kMs;
  builder.observer.track(0, 1, 1, 1 * kMs, "main", true);
  builder.observer.switched(1 * kMs, 0, format::SwitchKind::kIn, 0);
  builder.observer.track_end(0, 30 * kMs + 10'000);
  const size_t other = builder.add_process(2);
  builder.add_sample(other, builder.add_thread(other, 2), {0x1010}, 0, reaped_ns);
  builder.add_exit(1, 25 * kMs, 3 * kMs);
  return builder.load();
}

Test(load_ledger, the_end_of_a_process_is_charged_to_the_thread_that_ended_it) {
  auto profile = with_reaped_process(36 * kMs);
  cr_assert_eq(time_of(profile, SpecialSite::kResidual), 5 * kMs);
  cr_assert_eq(profile.threads[0].end_cpu.count, 25 * kMs);
  cr_assert_eq(profile.unsampled.count, 3 * kMs, "the child's, which had no agent");
  cr_assert_eq(profile.run_states.tracks[0].end.count, 35 * kMs);
  expect_balance(profile);
}

Test(load_ledger, more_than_the_time_until_a_process_was_reaped_is_not_its_end) {
  auto profile = with_reaped_process(34 * kMs);
  cr_assert_eq(time_of(profile, SpecialSite::kResidual), 4 * kMs);
  cr_assert_eq(profile.unsampled.count, 4 * kMs);
  expect_balance(profile);
}

Test(load_ledger, what_an_image_without_an_agent_did_is_not_the_end_of_the_one_before) {
  auto profile = with_reaped_process(36 * kMs, format::ImageEnd::kExec);
  cr_assert_eq(time_of(profile, SpecialSite::kResidual), 0);
  cr_assert_eq(profile.unsampled.count, 8 * kMs);
  expect_balance(profile);
}

/// What was the child's may be as much as the whole.
Test(load_ledger, nothing_is_the_end_of_a_process_that_could_not_ask_for_its_children) {
  auto profile = with_reaped_process(36 * kMs, format::ImageEnd::kExit, format::kUnknownCpu);
  cr_assert_eq(time_of(profile, SpecialSite::kResidual), 0);
  cr_assert_eq(profile.unsampled.count, 8 * kMs);
  expect_balance(profile);
}

/// Two processes of one pid, of which the second had no agent, as the recorder saw them begin; both reaped.
Test(load_ledger, a_pid_used_again_is_not_the_end_of_the_one_before) {
  ProfileBuilder builder;
  const size_t process = add_simple(builder, 7);
  auto& built = builder.process(process);
  built.threads[0].last_cpu_ns = built.threads[0].end_cpu_ns = built.record.end_cpu_ns = 20 * kMs;
  built.threads[0].end_time_ns = built.record.end_time_ns = 30 * kMs;
  built.record.end_kind = uint32_t(format::ImageEnd::kExit);
  builder.observer.start_time_ns = 1 * kMs;
  builder.observer.track(0, 7, 7, 1 * kMs, "first", true);
  builder.observer.track_end(0, 31 * kMs);
  builder.observer.track(1, 7, 7, 40 * kMs, "second", true);
  builder.observer.track_end(1, 80 * kMs);
  const size_t other = builder.add_process(2);
  builder.add_sample(other, builder.add_thread(other, 2), {0x1010}, 0, 90 * kMs);
  builder.add_exit(7, 40 * kMs, 0);
  auto profile = builder.load();
  cr_assert_eq(time_of(profile, SpecialSite::kResidual), 0);
  cr_assert_eq(profile.unsampled.count, 20 * kMs);
}

/// The agent begins after its process, and who is killed tells no end.
Test(load_ledger, a_killed_process_whose_begin_was_seen_is_reaped) {
  ProfileBuilder builder;
  const size_t process = add_simple(builder, 7);
  builder.process(process).start_time_ns = 3 * kMs;
  builder.observer.start_time_ns = 1 * kMs;
  builder.observer.track(0, 7, 7, 1 * kMs, "killed", true);
  builder.observer.track_end(0, 80 * kMs);
  const size_t other = builder.add_process(2);
  builder.add_sample(other, builder.add_thread(other, 2), {0x1010}, 0, 90 * kMs);
  builder.add_exit(7, 40 * kMs, 0, 9);
  cr_assert_eq(builder.load().processes[process].reaped_time.count, 90 * kMs);
}

/// Ticks after the agent's last look, in destructors behind its own, are not what the kernel took.
Test(load_ledger, ticks_behind_the_end_are_counted_once) {
  ProfileBuilder builder;
  const size_t process = add_simple(builder, 1);
  auto& built = builder.process(process);
  built.threads[0].end_cpu_ns = built.record.end_cpu_ns = 12 * kMs;
  built.threads[0].last_cpu_ns = 20 * kMs;
  built.threads[0].end_time_ns = built.record.end_time_ns = 1 * kMs;
  built.record.end_kind = uint32_t(format::ImageEnd::kExit);
  const size_t other = builder.add_process(2);
  builder.add_sample(other, builder.add_thread(other, 2), {0x1010}, 0, 90 * kMs);
  builder.add_exit(1, 23 * kMs, 0);
  auto profile = builder.load();
  cr_assert_eq(time_of(profile, SpecialSite::kResidual), 3 * kMs);
  cr_assert_eq(profile.unsampled.count, 0);
  expect_balance(profile);
}

Test(load_ledger, more_than_ends_of_threads_take_is_of_threads_not_seen) {
  auto profile = with_ended_threads(2, format::ImageEnd::kExit);
  cr_assert_eq(profile.threads[1].residual.count, 2 * kMs);
  cr_assert_eq(profile.unsampled.count, 1 * kMs);
  expect_balance(profile);
}

Test(load_ledger, a_killed_process_tells_nothing_of_ended_threads) {
  auto profile = with_ended_threads(20, format::ImageEnd::kUnknown);
  cr_assert_eq(profile.threads[1].residual.count, 2 * kMs);
  cr_assert_eq(profile.unsampled.count, 1 * kMs);
  expect_balance(profile);
}

Test(load_ledger, impossible_times_do_not_wrap) {
  ProfileBuilder builder;
  size_t process = add_simple(builder, 1);
  builder.add_sample(process, 0, {0x1010}, UINT64_MAX - 5);
  builder.add_sample(process, 0, {0x1010}, UINT64_MAX / 2);
  auto& thread = builder.process(process).threads[0];
  thread.end_cpu_ns = UINT64_MAX;
  thread.paused_ns = UINT64_MAX;
  builder.process(process).record.start_cpu_ns = UINT64_MAX;
  builder.add_exit(1, UINT64_MAX, UINT64_MAX);
  auto profile = builder.load();
  cr_assert_leq((profile.sampled + profile.residual + profile.unsampled).count, uint64_t(INT64_MAX));
  expect_balance(profile);
}

Test(load_modules, another_module_at_the_same_address) {
  ProfileBuilder builder;
  size_t process = builder.add_process(1);
  builder.add_thread(process, 1);
  builder.add_module(process, {.path = "/lib/a.so",
                               .start = 0x5000,
                               .end = 0x6000,
                               .bias = 0x5000,
                               .load_time_ns = 0,
                               .unload_time_ns = 100});
  builder.add_module(process, {.path = "/lib/b.so",
                               .start = 0x4000,
                               .end = 0x8000,
                               .bias = 0x4000,
                               .load_time_ns = 100,
                               .unload_time_ns = 200});
  builder.add_module(
      process, {.path = "/lib/a.so", .start = 0x5000, .end = 0x6000, .bias = 0x5000, .load_time_ns = 300});
  for (uint64_t time : {10, 99, 100, 150, 200, 250, 300, 400})
    builder.add_sample(process, 0, {0x5123}, 1, time);
  builder.close_accounts();
  auto profile = builder.load();
  std::string seen;
  for (size_t row = 0; row < 8; ++row) {
    const auto& site = profile.sites[profile.paths[profile.samples.path[row].index()].site.index()];
    const auto& module = profile.modules[site.module.index()];
    seen += module.anonymous ? '-' : module.path[5];
    cr_assert_eq(site.vaddr.value, module.anonymous ? 0x5123 : module.path[5] == 'a' ? 0x123 : 0x1123);
  }
  cr_assert_str_eq(seen.c_str(), "aabb--aa");
}

Test(load_modules, of_two_that_claim_an_address_the_one_unloaded_first_is_meant) {
  ProfileBuilder builder;
  size_t process = builder.add_process(1);
  builder.add_thread(process, 1);
  builder.add_module(process, {.path = "/lib/b.so", .start = 0x5000, .end = 0x6000, .load_time_ns = 0});
  builder.add_module(
      process,
      {.path = "/lib/a.so", .start = 0x5000, .end = 0x6000, .load_time_ns = 0, .unload_time_ns = 100});
  for (uint64_t time : {10, 99, 100, 150}) builder.add_sample(process, 0, {0x5123}, 1, time);
  builder.close_accounts();
  auto profile = builder.load();
  std::string seen;
  for (size_t row = 0; row < 4; ++row)
    seen += profile
                .modules[profile.sites[profile.paths[profile.samples.path[row].index()].site.index()]
                             .module.index()]
                .path[5];
  cr_assert_str_eq(seen.c_str(), "aabb");
}
