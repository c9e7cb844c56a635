// SPDX-License-Identifier: MIT
// What was written is what is read: random samples of many threads and processes, through chunks of all
// sizes, with one thread decoding or several. Context: tests.
#include <criterion/criterion.h>

#include <algorithm>
#include <map>
#include <random>

#include "test/unit/damaged_file.h"
#include "test/unit/profile_builder.h"
#include "test/unit/symbol_tools.h"
#include "viewer/record/decoded_writer.h"

using namespace varve;
using namespace varve::test;

namespace {

constexpr uint64_t kBias = 0x7f0000000000;

/// A profile of random samples. Addresses lie in one module; the last frames differ most, as in real stacks.
ProfileBuilder random_profile(uint32_t seed, size_t samples, uint32_t chunk_bytes) {
  std::mt19937_64 random(seed);
  ProfileBuilder builder;
  builder.sample_chunk_bytes = chunk_bytes;
  for (int32_t pid = 100; pid < 103; ++pid) {
    size_t process = builder.add_process(pid);
    builder.add_module(process,
                       {.path = "/lib/a.so", .start = kBias, .end = kBias + 0x100000, .bias = kBias});
    for (int32_t thread = 0; thread < 4; ++thread) builder.add_thread(process, pid * 10 + thread);
  }
  std::vector<uint64_t> stack;
  for (size_t i = 0; i < samples; ++i) {
    size_t keep = stack.empty() ? 0 : random() % (stack.size() + 1);
    stack.resize(keep);
    for (size_t fresh = random() % 12; fresh > 0 && stack.size() < 40; --fresh)
      stack.push_back(kBias + random() % 0x110000);
    auto end = format::StackEnd(random() % 4 ? 0 : random() % uint64_t(format::StackEnd::kNotTaken));
    builder.add_sample(random() % 3, uint32_t(random() % 4), stack, 1 + random() % 20'000'000, 0, end);
  }
  builder.close_accounts();
  return builder;
}

/// Runtime addresses of a path, the root first; the reason of its end is taken off.
std::vector<uint64_t> addresses(const load::Profile& profile, PathId path) {
  std::vector<uint64_t> frames;
  for (; path.index() != 0; path = profile.paths[path.index()].parent) {
    const load::Site& site = profile.sites[profile.paths[path.index()].site.index()];
    if (site.special()) continue;
    bool anonymous = profile.modules[site.module.index()].anonymous;
    frames.push_back(site.vaddr.value + (anonymous ? 0 : kBias));
  }
  std::ranges::reverse(frames);
  return frames;
}

void expect_equal(const load::Profile& profile, ProfileBuilder& builder) {
  size_t row = 0;
  for (size_t thread = 0; thread < profile.threads.size(); ++thread) {
    size_t process = profile.threads[thread].process.index();
    for (const BuiltSample& sample : builder.process(process).samples) {
      if (sample.thread != thread % 4) continue;
      while (profile.samples.ticks[row] == 0) ++row;
      cr_assert_eq(profile.samples.thread[row].index(), thread);
      cr_assert_eq(profile.samples.time_ns[row], sample.time_ns);
      cr_assert_eq(profile.samples.weight_ns[row], sample.weight_ns);
      cr_assert(addresses(profile, profile.samples.path[row]) == sample.stack, "stack of row %zu", row);
      ++row;
    }
  }
}

bool same_rows(const load::Profile& a, const load::Profile& b) {
  return a.samples.time_ns == b.samples.time_ns && a.samples.weight_ns == b.samples.weight_ns &&
         a.samples.thread == b.samples.thread && a.samples.path == b.samples.path &&
         a.samples.ticks == b.samples.ticks && a.sites == b.sites && a.paths == b.paths &&
         a.modules.size() == b.modules.size() && a.damages.size() == b.damages.size();
}

/// The profile in a directory, and whether its samples had to be decoded for it.
std::pair<load::Profile, bool> load_from(const std::string& directory) {
  bool decoded = false;
  auto profile = load::load(directory, {.progress = [&](uint64_t, uint64_t) { decoded = true; }});
  cr_assert(profile.has_value());
  return {std::move(*profile), decoded};
}

/// With the file "decoded" beside the others; the profile as it is without.
load::Profile write_decoded(const ProfileBuilder& builder, const std::string& directory) {
  builder.write(directory);
  auto [profile, decoded] = load_from(directory);
  cr_assert(decoded);
  const auto written = record::write_decoded_file(profile);
  cr_assert(written.has_value(), "%s", written ? "" : written.error().c_str());
  return std::move(profile);
}

}  // namespace

Test(load_round_trip, random_samples_read_back_equal) {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    auto builder = random_profile(seed, 3000, seed % 2 ? 4000 : 65000);
    auto profile = builder.load();
    cr_assert_eq(profile.sample_count, 3000);
    cr_assert_eq(profile.damages.size(), 0, "%s",
                 profile.damages.empty() ? "" : profile.damages.front().sentence.c_str());
    expect_equal(profile, builder);
  }
}

Test(load_round_trip, number_of_threads_changes_nothing) {
  auto builder = random_profile(77, 5000, 3000);
  auto alone = builder.load({.threads = 1});
  for (unsigned threads : {2u, 3u, 5u, 8u}) cr_assert(same_rows(alone, builder.load({.threads = threads})));
}

Test(load_round_trip, a_stack_that_is_not_whole_says_so_at_its_root) {
  ProfileBuilder builder;
  size_t process = builder.add_process(1);
  builder.add_thread(process, 1);
  builder.add_module(process, {.path = "/bin/a", .start = 0x1000, .end = 0x2000});
  builder.add_sample(process, 0, {0x1100, 0x1200});
  builder.add_sample(process, 0, {0x1100, 0x1200}, 1, 0, format::StackEnd::kDepthLimit);
  builder.add_sample(process, 0, {0x1100, 0x1200}, 1, 0, format::StackEnd::kBadMemory);
  builder.add_sample(process, 0, {0x1100, 0x1200});
  builder.add_sample(process, 0, {}, 1, 0, format::StackEnd::kBadReturn);
  builder.close_accounts();
  auto profile = builder.load();
  auto root_side = [&](size_t row) {
    PathId path = profile.samples.path[row], last = path;
    for (; path.index() != 0; path = profile.paths[path.index()].parent) last = path;
    return profile.sites[profile.paths[last.index()].site.index()];
  };
  cr_assert(!root_side(0).special());
  cr_assert(root_side(1).special() && root_side(1).kind() == load::SpecialSite::kTruncated);
  cr_assert(root_side(2).special() && root_side(2).kind() == load::SpecialSite::kBadMemory);
  cr_assert(profile.samples.path[3] == profile.samples.path[0]);
  cr_assert(root_side(4).special() && root_side(4).kind() == load::SpecialSite::kBadReturn);
  for (size_t node = 1; node < profile.paths.size(); ++node)
    cr_assert_lt(profile.paths[node].parent.index(), node);
}

Test(load_round_trip, modules_of_one_file_are_one_row) {
  ProfileBuilder builder;
  for (int32_t pid : {10, 11, 12}) {
    size_t process = builder.add_process(pid);
    builder.add_thread(process, pid);
    uint64_t start = uint64_t(pid) << 20;
    builder.add_module(
        process,
        {.path = "/lib/a.so", .start = start, .end = start + 0x1000, .bias = start, .build_id = {1}});
    builder.add_sample(process, 0, {start + 0x10});
    builder.add_sample(process, 0, {0x40});
  }
  size_t rebuilt = builder.add_process(13);
  builder.add_thread(rebuilt, 13);
  builder.add_module(rebuilt, {.path = "/lib/a.so", .start = 0x1000, .end = 0x2000, .build_id = {2}});
  builder.add_sample(rebuilt, 0, {0x1010});
  builder.close_accounts();
  auto profile = builder.load();
  size_t files = 0, anonymous = 0;
  for (const auto& module : profile.modules) (module.anonymous ? anonymous : files) += 1;
  cr_assert_eq(files, 2);
  cr_assert_eq(anonymous, 3);
  cr_assert_eq(profile.sites.size(), 1 + 3 + 1);  // one shared, three of JIT code, one of the other build
}

Test(load_round_trip, samples_out_of_order_are_sorted_by_thread_and_time) {
  ProfileBuilder builder;
  builder.sample_chunk_bytes = 4000;
  size_t process = builder.add_process(1);
  builder.add_thread(process, 1);
  builder.add_thread(process, 2);
  builder.add_module(process, {.path = "/bin/a", .start = 0x1000, .end = 0x2000});
  for (uint64_t i = 0; i < 2000; ++i)
    builder.add_sample(process, uint32_t(i % 2), {0x1000 + i % 7}, 1, 5'000'000 + i);
  auto files = builder.files();
  auto profile = builder.load();
  for (size_t row = 1; row < profile.samples.size(); ++row) {
    auto thread = profile.samples.thread[row], before = profile.samples.thread[row - 1];
    cr_assert(before < thread ||
              (before == thread && profile.samples.time_ns[row - 1] <= profile.samples.time_ns[row]));
  }
}

Test(load_round_trip, session_texts_fill_the_session) {
  ProfileBuilder builder;
  builder.add_process(5);
  builder.add_text("command", "make -j2");
  builder.add_text("host", "box");
  builder.add_text("processors", "4");
  builder.add_text("exit_status", "256");
  builder.add_text("elapsed_ns", "123456789");
  builder.add_text("finished", "1");
  builder.add_text("something_new", "kept");
  builder.add_exit(5, 70, 30);
  auto profile = builder.load();
  cr_assert(profile.session.command == "make -j2");
  cr_assert(profile.session.host == "box");
  cr_assert_eq(profile.session.processors, 4);
  cr_assert_eq(profile.session.exit_status, 256);
  cr_assert_eq(profile.session.elapsed.count, 123456789);
  cr_assert_eq(profile.session.interval.count, 10'000'000);
  cr_assert_eq(profile.session.user_cpu.count, 70);
  cr_assert_eq(profile.kernel_cpu.count, 100);
  cr_assert(profile.session.finished);
  cr_assert_eq(profile.session.texts.size(), 7);
  cr_assert(profile.session.texts.back().first == "something_new" &&
            profile.session.texts.back().second == "kept");
}

Test(load_round_trip, samples_stored_decoded_need_no_decoding) {
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    ScratchDirectory scratch;
    const load::Profile plain = write_decoded(random_profile(seed, 3000, 4000), scratch.path());
    const auto [profile, decoded] = load_from(scratch.path());
    cr_expect_not(decoded);
    cr_expect(same_rows(profile, plain));
    for (size_t i = 0; i < plain.threads.size(); ++i) {
      cr_expect(profile.threads[i].sampled == plain.threads[i].sampled);
      cr_expect(profile.threads[i].residual == plain.threads[i].residual);
      cr_expect_eq(profile.threads[i].samples, plain.threads[i].samples);
    }
    cr_expect(profile.sampled == plain.sampled && profile.unsampled == plain.unsampled);
    cr_expect(profile.residual_placed == plain.residual_placed);
    cr_expect_eq(profile.sample_count, plain.sample_count);
  }
}

Test(load_round_trip, stored_samples_of_other_files_are_not_believed) {
  ScratchDirectory scratch;
  ProfileBuilder builder = random_profile(9, 500, 4000);
  write_decoded(builder, scratch.path());
  builder.add_sample(1, 2, {kBias + 0x100, kBias + 0x200});
  builder.write(scratch.path());
  const auto [profile, decoded] = load_from(scratch.path());
  cr_expect(decoded);
  cr_expect_eq(profile.sample_count, 501);
}

Test(load_round_trip, damaged_stored_samples_are_decoded_again) {
  ScratchDirectory scratch;
  const load::Profile plain = write_decoded(random_profile(3, 400, 4000), scratch.path());
  const std::string path = scratch.path("decoded");
  size_t noticed = 0;
  damage_file(path, 4, [&] {
    const auto [profile, decoded] = load_from(scratch.path());
    cr_assert(same_rows(profile, plain));
    noticed += decoded;
  });
  cr_expect_gt(noticed, 200);  // the others hit padding
}
