// SPDX-License-Identifier: MIT
// What a descriptor is, asked from outside, written, read back, and given to waits that no hook saw.
// Context: tests.
#include <criterion/criterion.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "test/unit/built_bytes.h"
#include "test/unit/profile_builder.h"
#include "test/unit/scratch.h"
#include "test/unit/time_units.h"
#include "viewer/load/observer_file.h"
#include "viewer/record/observe/observer_writer.h"
#include "viewer/record/observe/seen_file.h"
#include "viewer/record/session_writer.h"

using namespace varve;
using record::observe::awaited_file;
using record::observe::SeenFile;
using record::observe::SyscallLook;

namespace {

SyscallLook call_at(long number, int fd) {
  SyscallLook call;
  call.number = number;
  call.arguments[0] = uint64_t(unsigned(fd));
  return call;
}

SeenFile seen(int fd) {
  const auto file = awaited_file(getpid(), gettid(), call_at(SYS_read, fd));
  return file ? *file : SeenFile{};
}

/// As agents tell it.
std::string flow_of(int fd) {
  struct stat status {};
  cr_assert_eq(fstat(fd, &status), 0);
  return fmt::format("pipe {} {}", uint64_t(status.st_dev), uint64_t(status.st_ino));
}

Test(awaited_files, are_what_proc_says) {
  const test::Scratch scratch;
  scratch.write("data", "text");
  const int data = open((scratch.path + "/data").c_str(), O_RDONLY);
  const SeenFile file{data, scratch.path + "/data", ""};
  cr_expect(seen(data) == file);
  int ends[2], sockets[2];
  cr_assert(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  const SeenFile reader = seen(ends[0]), writer = seen(ends[1]);
  cr_expect(reader.name.starts_with("pipe:[") && reader.name == writer.name);
  cr_expect(reader.flow == flow_of(ends[0]) && reader.flow == writer.flow);
  cr_expect(!awaited_file(getpid(), gettid(), call_at(SYS_read, sockets[0])), "its process knows the peer");
}

Test(awaited_files, none_where_there_is_none) {
  cr_expect(!awaited_file(getpid(), gettid(), call_at(SYS_futex, 0)));
  cr_expect(!awaited_file(getpid(), gettid(), call_at(SYS_poll, 0)), "of several");
  cr_expect(!awaited_file(getpid(), gettid(), call_at(SYS_read, 1'000'000)));
  cr_expect(!awaited_file(getpid(), gettid(), call_at(SYS_read, -1)));
}

Test(awaited_files, come_back_from_the_file) {
  using record::observe::ObserverWriter;
  const test::Scratch scratch;
  auto writer =
      ObserverWriter::create(scratch.descriptor, record::make_file_header(format::FileKind::kSession));
  cr_assert(writer.has_value());
  format::TrackRecord track{};
  track.pid = track.tid = 100;
  (*writer)->track(track, true);
  track.track = 1, track.tid = 101;
  (*writer)->track(track, true);
  const auto look = [&](uint32_t thread, int fd, bool named) {
    (*writer)->wait_stack(thread, {kMs}, call_at(SYS_read, fd), {}, named);
  };
  look(0, 3, false);
  (*writer)->wait_file(0, {kMs}, {3, "/a", ""});
  look(0, 3, true), look(1, 3, true), look(0, 4, true);
  (*writer)->wait_file(1, {kMs}, {4, "pipe:[7]", "pipe 1 7"});
  look(0, 4, true), look(1, 3, false);
  (*writer)->wait_file(1, {kMs}, {4, "/a", ""});
  look(0, 4, true);
  (*writer)->finish({2 * kMs});

  auto source = load::DirectorySource::make(scratch.path);
  cr_assert(source.has_value());
  std::vector<load::Damage> damages;
  const auto file = load::read_observer_file(**source, damages);
  cr_assert(file.has_value() && damages.empty());
  const load::WaitLooks& looks = file->looks;
  cr_assert_eq(looks.files.size(), 2);
  cr_expect(looks.files[0].name == "/a" && looks.files[0].flow.empty());
  cr_expect(looks.files[1].name == "pipe:[7]" && looks.files[1].flow == "pipe 1 7");
  constexpr uint32_t kNone = load::WaitLook::kNoFile;
  const std::vector<uint32_t> wanted = {kNone, 0, 0, kNone, 1, kNone, 0};
  cr_assert_eq(looks.looks.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) cr_expect_eq(looks.looks[i].file, wanted[i], "look %zu", i);
}

void add_look(test::Bytes& records, uint64_t ms) {
  format::WaitStackRecord stack{};
  stack.time_ns = ms * kMs;
  stack.system_call = SYS_read;
  stack.arguments[0] = 3;
  test::append_record(records, format::RecordKind::kWaitStack, format::kLookNamed, test::record_of(stack));
}

/// A thread that blocks in these stretches; looks at some of them, each at descriptor 3 as what it then is:
/// where it is nothing, what it was.
struct Look {
  uint64_t ms;
  std::string name;
};
load::Profile with_looks(const std::vector<std::pair<uint64_t, uint64_t>>& blocked_ms,
                         const std::vector<Look>& looks) {
  test::ProfileBuilder builder;
  const size_t process = builder.add_process(100, "/usr/bin/digest");
  builder.process(process).start_time_ns = kMs;
  builder.add_thread(process, 100, "main");
  for (auto& thread : builder.process(process).threads) thread.start_time_ns = kMs;
  test::ObserverBuilder& observer = builder.observer;
  observer.start_time_ns = kMs;
  observer.track(0, 100, 100, kMs, "main", true);
  observer.switched(2 * kMs, 0, format::SwitchKind::kIn, 0);
  for (const auto& [begin, end] : blocked_ms) {
    observer.switched(begin * kMs, 0, format::SwitchKind::kOutBlocked);
    observer.switched(end * kMs, 0, format::SwitchKind::kIn, 0);
  }
  observer.track_end(0, 100 * kMs);
  test::Bytes records;
  for (const Look& look : looks) {
    if (look.name.empty()) {
      add_look(records, look.ms);
      continue;
    }
    format::WaitFileRecord file{};
    file.time_ns = look.ms * kMs;
    file.fd = 3;
    test::Bytes record = test::record_of(file);
    record.insert(record.end(), look.name.begin(), look.name.end());
    record.insert(record.end(), {0, 0});
    test::append_record(records, format::RecordKind::kWaitFile, 0, record);
    add_look(records, look.ms);
  }
  observer.raw(records);
  return builder.load();
}

/// "1 of /a, 2 of /b": the waits by their end.
std::string names_of(const load::Profile& profile) {
  std::string words;
  for (const load::Wait& wait : profile.waits.waits)
    words += fmt::format("{}{} of {}", words.empty() ? "" : ", ", wait.count, profile.waits.names[wait.name]);
  return words;
}

void expect_names(const load::Profile& profile, const char* wanted) {
  const std::string got = names_of(profile);
  cr_expect(got == wanted, "%s", got.c_str());
}

Test(awaited_files, each_wait_has_its_own) {
  const load::Profile profile = with_looks({{10, 20}, {30, 40}}, {{15, "/a"}, {35, "/b"}});
  cr_expect(profile.damages.empty());
  expect_names(profile, "1 of /a, 1 of /b");
}

Test(awaited_files, a_sum_by_one_look_is_of_several_files) {
  const std::vector<std::pair<uint64_t, uint64_t>> blocked = {{10, 20}, {21, 22}, {23, 24}};
  expect_names(with_looks(blocked, {{15, "/a"}}), "1 of /a, 2 of [several files of digest]");
  expect_names(with_looks(blocked, {{15, "pipe:[7]"}}), "1 of pipe:[7], 2 of pipe:[7]");
}

/// Told once, and seen by looks at two waits.
Test(awaited_files, a_sum_by_looks_at_one_file_is_of_that) {
  const std::vector<std::pair<uint64_t, uint64_t>> blocked = {{10, 20}, {21, 23}, {24, 25}, {26, 27}};
  expect_names(with_looks(blocked, {{15, "/a"}, {22, ""}}), "1 of /a, 1 of /a, 2 of /a");
  expect_names(with_looks(blocked, {{15, "/a"}, {19, ""}}), "1 of /a, 3 of [several files of digest]");
}

}  // namespace
