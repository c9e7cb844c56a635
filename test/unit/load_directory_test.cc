// SPDX-License-Identifier: MIT
// What a profile's directory may have in it: pipes, devices, links and files of holes are said to be there
// and not read, one agent's file is a profile too, and the newest of several is found. Context: tests.
#include <criterion/criterion.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "test/unit/profile_builder.h"
#include "test/unit/scratch.h"
#include "viewer/load/load.h"
#include "viewer/stored_views.h"
#include "viewer/symbol/symbol_file.h"

using namespace varve;
using namespace varve::test;

namespace {

ProfileBuilder small_profile() {
  ProfileBuilder builder;
  const size_t process = builder.add_process(100);
  builder.add_thread(process, 100);
  for (uint64_t i = 0; i < 60; ++i) builder.add_sample(process, 0, {0x1000, 0x1200 + i});
  builder.close_accounts();
  return builder;
}

}  // namespace

Test(load_directory, a_directory_and_a_single_file_are_read) {
  const Scratch scratch;
  const std::filesystem::path directory = scratch.path;
  small_profile().write(directory);
  auto profile = load::load(directory);
  cr_assert(profile.has_value());
  cr_assert_eq(profile->sample_count, 60);
  auto single = load::load(directory / kAgent);
  cr_assert(single.has_value());
  cr_assert_eq(single->sample_count, 60);
  cr_assert(single->damages.empty());
  cr_assert(!load::load(directory / "nothing").has_value());
}

Test(load_directory, a_pipe_under_an_agents_name_does_not_block) {
  const Scratch scratch;
  const std::filesystem::path directory = scratch.path;
  small_profile().write(directory);
  cr_assert_eq(mkfifo((directory / "x-1-0.agent").c_str(), 0600), 0);
  auto profile = load::load(directory);
  cr_assert(profile.has_value());
  cr_assert(says(*profile, "x-1-0.agent is not a regular file"));
}

Test(load_directory, what_is_no_plain_file_is_not_even_opened) {
  // To open a device can do things, and to open a pipe lets the one go on that waits to write to it.
  const Scratch scratch;
  const std::filesystem::path directory = scratch.path;
  small_profile().write(directory);
  const auto pipe = directory / "elsewhere";
  cr_assert_eq(mkfifo(pipe.c_str(), 0600), 0);
  for (const char* name : {"session", "observer", "symbols", "code", "decoded", "views", "x-1-0.agent"}) {
    std::filesystem::remove(directory / name);
    std::filesystem::create_symlink("elsewhere", directory / name);
  }
  const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  cr_assert_geq(inotify_add_watch(watch, pipe.c_str(), IN_OPEN), 0);
  auto profile = load::load(directory);
  cr_assert(profile.has_value());
  cr_assert_not(read_stored_views(*profile).has_value());
  cr_expect_not(symbol::read_symbol_file(*profile).has_value());
  cr_expect_not(symbol::read_code_file(*profile).has_value());
  char event[4096];
  cr_expect_eq(read(watch, event, sizeof event), -1, "it was opened");
  cr_expect_eq(errno, EAGAIN);
  close(watch);
}

Test(load_directory, a_file_of_holes_is_not_read) {
  const Scratch scratch;
  const std::filesystem::path directory = scratch.path;
  small_profile().write(directory);
  std::ofstream(directory / "symbols") << "varve";
  std::filesystem::copy_file(directory / kAgent, directory / "x-1-0.agent");
  for (const char* name : {"session", "x-1-0.agent", "symbols"})
    cr_assert_eq(truncate((directory / name).c_str(), off_t(1) << 42), 0);
  auto profile = load::load(directory);
  cr_assert(profile.has_value());
  cr_expect(says(*profile, "session is mostly holes"));
  cr_expect(says(*profile, "x-1-0.agent is mostly holes"));
  const auto symbols = symbol::read_symbol_file(*profile);
  cr_assert_not(symbols.has_value());
  cr_expect_neq(symbols.error().find("is mostly holes"), std::string::npos, "%s", symbols.error().c_str());
}

Test(load_directory, the_newest_profile_is_found) {
  const Scratch scratch;
  const std::filesystem::path directory = scratch.path;
  cr_assert(!load::find_newest_profile(directory).has_value());
  uint64_t starts[] = {5, 9, 7};
  for (int i = 0; i < 3; ++i) {
    auto builder = small_profile();
    builder.with_session = false;
    builder.process(0).start_time_ns = starts[i];
    auto path = directory / ("p" + std::to_string(i) + ".varve");
    std::filesystem::create_directory(path);
    builder.write(path);
  }
  std::filesystem::create_directory(directory / "other");
  std::ofstream(directory / "other" / "session") << "not ours";
  auto newest = load::find_newest_profile(directory);
  cr_assert(newest.has_value());
  cr_assert(*newest == (directory / "p1.varve").string());
}
