// SPDX-License-Identifier: MIT
// Stacks of blocked threads, from outside: of a child that sleeps, of files that are no programs, and of
// processes that are not there. Context: tests.
#include <criterion/criterion.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <random>

#include "test/unit/scratch.h"
#include "test/unit/sleeper.h"
#include "viewer/record/clock.h"
#include "viewer/record/observe/stack_walk.h"

using namespace varve;
using namespace varve::record::observe;
using varve::test::nobody;
using varve::test::Scratch;
using varve::test::Sleeper;

namespace {

SeenStack walk(pid_t process, uint64_t pc, uint64_t sp) {
  CodeFiles files;
  CodeMap map(process);
  RemoteMemory memory(process);
  return walk_stack(map, files, memory, pc, sp, record::clock_now(CLOCK_MONOTONIC));
}

Test(stack_walk, a_sleeping_child_is_seen_up_to_its_root) {
  Sleeper sleeper;
  const WaitLook look = look_at_wait(sleeper.pid, sleeper.pid, nobody);
  cr_assert(look.result == WaitLook::Result::kBlocked);
  const SeenStack stack = walk(sleeper.pid, look.call.program_counter, look.call.stack_pointer);
  cr_expect(stack.end == format::StackEnd::kRoot, "ended by reason %d", int(stack.end));
  cr_expect_gt(stack.frames.size(), 4u);
}

Test(stack_walk, a_stack_that_leads_nowhere_ends) {
  Sleeper sleeper;
  const WaitLook look = look_at_wait(sleeper.pid, sleeper.pid, nobody);
  for (const uint64_t sp : {uint64_t{0}, uint64_t{8}, uint64_t{1} << 46, ~uint64_t{0} - 7, ~uint64_t{0}}) {
    const SeenStack stack = walk(sleeper.pid, look.call.program_counter, sp);
    cr_expect(stack.end != format::StackEnd::kRoot && stack.frames.size() <= 1);
  }
  for (const uint64_t pc : {uint64_t{1}, uint64_t{4096}, ~uint64_t{0}})
    cr_expect(walk(sleeper.pid, pc, look.call.stack_pointer).frames.empty());
}

Test(stack_walk, a_process_that_has_ended_has_no_code) {
  Sleeper sleeper;
  const WaitLook look = look_at_wait(sleeper.pid, sleeper.pid, nobody);
  const pid_t process = sleeper.pid;
  sleeper.end();
  cr_expect(walk(process, look.call.program_counter, look.call.stack_pointer).frames.empty());
}

Test(stack_walk, files_that_are_damaged_have_some_rules_or_none) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string whole(256 * 1024, '\0');
  self.read(whole.data(), ptrdiff_t(whole.size()));
  std::mt19937_64 random(3);
  Scratch scratch;
  for (int round = 0; round < 100; ++round) {
    std::string damaged = whole.substr(0, round % 7 == 0 ? size_t(random() % whole.size()) : whole.size());
    for (int i = 0; i < 20 && !damaged.empty(); ++i)
      damaged[random() % std::min<size_t>(damaged.size(), i < 10 ? 1024 : whole.size())] = char(random());
    scratch.write("file", damaged);
    const int descriptor = open((scratch.path + "/file").c_str(), O_RDONLY | O_CLOEXEC);
    CodeFile file(descriptor, uint64_t{1} << 24);
    close(descriptor);
    cr_expect_leq(file.bytes(), uint64_t{1} << 24);
    cr_expect_leq(file.build_id().size(), 64u);
    for (int i = 0; i < 50; ++i) file.rule_at(random() % (8 << 20));
  }
}

Test(stack_walk, how_far_the_frame_is_stands_at_the_begin_of_a_function) {
  const auto depth = [](std::initializer_list<uint8_t> code) {
    return frame_depth(code.begin(), code.size());
  };
  cr_expect_eq(depth({0x55, 0x48, 0x89, 0xe5, 0x90}), 0);
  cr_expect_eq(depth({0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20}), 0x20);
  cr_expect_eq(depth({0x55, 0x48, 0x89, 0xe5, 0x41, 0x54, 0x53, 0x48, 0x81, 0xec, 0, 1, 0, 0}), 0x110);
  cr_expect_eq(depth({0x48, 0x83, 0xec, 0x20}), -1, "no frame pointer");
  cr_expect_eq(depth({0x55, 0x48, 0x89, 0xe5, 0x48, 0x81, 0xec, 0, 1}), -1, "cut off");
  cr_expect_eq(depth({0x55, 0x48, 0x89}), -1);
  cr_expect_eq(depth({}), -1);
}

}  // namespace
