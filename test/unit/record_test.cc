// SPDX-License-Identifier: MIT
// Unit tests of viewer/record: the parts that can be looked at without running a command.
// Context: test.
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/session_keys.h"
#include "test/unit/scratch.h"
#include "viewer/load/load.h"
#include "viewer/record/child_task.h"
#include "viewer/record/closing_line.h"
#include "viewer/record/elf_facts.h"
#include "viewer/record/host_facts.h"
#include "viewer/record/launcher.h"
#include "viewer/record/loader_list.h"
#include "viewer/record/process_tree.h"
#include "viewer/record/program_search.h"
#include "viewer/record/session_writer.h"
#include "viewer/record/shell_words.h"

using namespace varve;
using namespace varve::record;
using varve::test::Scratch;

namespace {

void expect_same_text(const std::string& actual, const std::string& expected) {
  cr_expect(actual == expected, "'%s' is not '%s'", actual.c_str(), expected.c_str());
}

/// What is said of a recording that has some samples, of two seconds, with this besides.
std::string words_with(const std::function<void(Finalized&)>& change) {
  Finalized profile;
  profile.loaded = true, profile.samples = 200, profile.cpu = {2'000'000'000};
  profile.threads = 2, profile.processes = 1, profile.agent_files = 1;
  change(profile);
  return why_few_samples(profile, {}, {10'000'000});
}

}  // namespace

Test(record, words_are_quoted_for_a_shell) {
  expect_same_text(shell_quoted("plain-1.2/x=y"), "plain-1.2/x=y");
  expect_same_text(shell_quoted(""), "''");
  expect_same_text(shell_quoted("two words"), "'two words'");
  expect_same_text(shell_quoted("it's"), "'it'\\''s'");
  expect_same_text(shell_quoted("$(rm)"), "'$(rm)'");
  expect_same_text(shell_quoted(std::vector<std::string>{"a", "b c"}), "a 'b c'");
}

Test(record, the_tightest_cgroup_limit_counts) {
  Scratch root;
  root.write("proc/self/cgroup", "0::/outer/inner\n");
  cr_expect(!cgroup_cpu_max(root.path));
  root.write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  cr_expect(!cgroup_cpu_max(root.path));
  root.write("sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
  expect_same_text(cgroup_cpu_max(root.path).value_or(""), "150000 100000");
  root.write("sys/fs/cgroup/outer/inner/cpu.max", "50000 100000\n");
  expect_same_text(cgroup_cpu_max(root.path).value_or(""), "50000 100000");
  root.write("sys/fs/cgroup/outer/inner/cpu.max", "rubbish\n");
  expect_same_text(cgroup_cpu_max(root.path).value_or(""), "150000 100000");
}

Test(record, cgroups_of_version_1_count_too) {
  Scratch root;
  root.write("proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/job\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  cr_expect(!cgroup_cpu_max(root.path));
  root.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "25000\n");
  expect_same_text(cgroup_cpu_max(root.path).value_or(""), "25000 100000");
}

Test(record, shebang_lines_are_read_as_the_kernel_does) {
  cr_expect(shebang_words("#!/bin/sh\nexit").size() == 1);
  std::vector<std::string> words = shebang_words("#! \t/usr/bin/env  -S a b  \nx");
  cr_assert(words.size() == 2);
  expect_same_text(words[0], "/usr/bin/env");
  expect_same_text(words[1], "-S a b");
  cr_expect(shebang_words("#!\n").empty());
  cr_expect(shebang_words("").empty());
  cr_expect(shebang_words("#").empty());
  cr_expect(shebang_words("echo\n").empty());
  expect_same_text(shebang_words("#!/x")[0], "/x");
}

Test(record, env_names_its_command) {
  bool clears = false;
  expect_same_text(env_command("python3", clears), "python3");
  expect_same_text(env_command("python3 -u", clears), "python3 -u");
  expect_same_text(env_command("-S python3 -u", clears), "python3");
  expect_same_text(env_command("-SA=1 B=2 node --x", clears), "node");
  expect_same_text(env_command("-S -u HOME sh", clears), "sh");
  expect_same_text(env_command("-S", clears), "");
  cr_expect(!clears);
  expect_same_text(env_command("-S -i sh", clears), "sh");
  cr_expect(clears);
}

Test(record, the_loaders_answer_is_understood) {
  LoaderList list = parse_loader_list(
      "./a: /lib/libc.so.6: version `GLIBC_2.99' not found (required by ./a)\n"
      "ERROR: ld.so: object '/x.so' from LD_PRELOAD cannot be preloaded (cannot open shared object file): "
      "ignored.\n"
      "\tlinux-vdso.so.1 (0x00007ffd)\n"
      "\tlibpart.so => not found\n"
      "\tlibasan.so.8 => /lib/x86_64-linux-gnu/libasan.so.8 (0x00007f)\n"
      "\t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n");
  cr_assert(list.libraries.size() == 2);
  expect_same_text(list.libraries[0].name, "libpart.so");
  expect_same_text(list.libraries[0].path, "");
  expect_same_text(list.find("libasan.so")->path, "/lib/x86_64-linux-gnu/libasan.so.8");
  cr_expect(!list.find("libtsan"));
  cr_assert(list.wrong_versions.size() == 1);
  expect_same_text(list.wrong_versions[0].version, "GLIBC_2.99");
  expect_same_text(list.wrong_versions[0].library, "/lib/libc.so.6");
  expect_same_text(list.wrong_versions[0].wanted_by, "./a");
  cr_assert(list.not_preloaded.size() == 1);
  expect_same_text(list.not_preloaded[0], "/x.so");
}

Test(record, damaged_answers_of_the_loader_do_no_harm) {
  for (const char* text :
       {"", "\n\n", " => ", ": version `", "x: version `y", "ERROR from LD_PRELOAD cannot be preloaded"})
    parse_loader_list(text);
}

Test(record, only_a_system_loader_is_asked) {
  Scratch scratch;
  std::filesystem::copy_file("/bin/true", scratch.path + "/ld-linux-x86-64.so.2");
  chmod((scratch.path + "/ld-linux-x86-64.so.2").c_str(), 0777);
  cr_expect(!ask_loader(scratch.path + "/ld-linux-x86-64.so.2", "/bin/true", ""));
  cr_expect(!ask_loader("/bin/true", "/bin/true", ""));
}

Test(record, this_program_is_a_dynamic_elf_file) {
  auto facts = read_elf_facts("/proc/self/exe");
  cr_assert(facts.has_value());
  cr_expect(facts->bits == 64 && facts->dynamic && !facts->go);
  cr_expect(facts->interpreter.starts_with("/lib64/ld-linux"));
  cr_expect(facts->needs("libcriterion.so"));
  cr_expect(!facts->needs("libtsan.so"));
  cr_expect(!is_elf("/etc/passwd"));
  cr_expect(!is_elf("/no/such/file"));
}

Test(record, what_is_written_is_what_is_loaded) {
  Scratch scratch;
  {
    auto session = SessionWriter::create(scratch.descriptor, {Nanos{2'000'000}, 99, true, true});
    cr_assert(session.has_value());
    cr_expect(session->control().state() == format::ControlState::kDelayed);
    session->text(session_key::kCommand, "make 'two words'");
    std::string huge(200'000, 'x');  // more than a record can hold
    cr_expect(session->text("long", huge));
    for (int i = 0; i < 1000; ++i) {
      format::ProcessExitRecord exit{};
      exit.pid = i, exit.user_ns = 1000, exit.system_ns = 10;
      cr_expect(session->process_exit(exit));
    }
    session->text(session_key::kExitStatus, "256");
    session->text(session_key::kFinished, "1");
    session->seal();
  }
  auto again = SessionWriter::create(scratch.descriptor, {});
  cr_expect(!again, "an existing session file was opened");
  auto profile = load::load(scratch.path);
  cr_assert(profile.has_value(), "%s", profile ? "" : profile.error().c_str());
  cr_expect(profile->damages.empty(), "%s",
            profile->damages.empty() ? "" : profile->damages[0].sentence.c_str());
  const load::Session& session = profile->session;
  expect_same_text(session.command, "make 'two words'");
  cr_expect(session.interval == Nanos{2'000'000} && session.stack_depth == 99);
  cr_expect(session.finished && session.exit_status == 256);
  cr_expect(session.user_cpu == Nanos{1'000'000} && session.system_cpu == Nanos{10'000});
}

Test(record, a_session_is_readable_after_every_record) {
  Scratch scratch;
  auto session = SessionWriter::create(scratch.descriptor, {});
  cr_assert(session.has_value());
  for (int i = 0; i < 400; ++i) {
    cr_expect(session->text("key", std::string(size_t(i), 'v')));
    if (i % 40) continue;
    auto profile = load::load(scratch.path);
    cr_assert(profile.has_value() && profile->damages.empty());
    cr_expect(profile->session.texts.size() == size_t(i) + 1);
  }
}

Test(record, the_agent_goes_before_what_the_user_preloads) {
  setenv("LD_PRELOAD", "/theirs.so", 1);
  setenv("VARVE_SESSION", "/old", 1);
  unsigned found = 0;
  for (const std::string& entry : target_environment({"/asan.so", "/libvarve.so"}, "/new")) {
    if (entry.starts_with("LD_PRELOAD="))
      expect_same_text(entry, "LD_PRELOAD=/asan.so:/libvarve.so:/theirs.so"), ++found;
    if (entry.starts_with("VARVE_SESSION=")) expect_same_text(entry, "VARVE_SESSION=/new"), ++found;
  }
  cr_expect(found == 2);
}

Test(record, the_closing_line_says_what_to_type_next) {
  Finalized profile;
  profile.loaded = true, profile.samples = 1234567, profile.cpu = {12'345'000'000};
  profile.threads = 2, profile.processes = 1, profile.agent_files = 1;
  RunEnd end;
  expect_same_text(
      closing_line(profile, end, "xz.varve"),
      "1,234,567 samples, 12.3 s of CPU time in 2 threads; profile in xz.varve; next: varve report xz.varve");
  expect_same_text(why_few_samples(profile, end, {10'000'000}), "");
  profile.samples = 1, profile.threads = 1;
  cr_expect(closing_line(profile, end, "x").starts_with("1 sample, 12.3 s of CPU time in 1 thread;"));
  cr_expect(!why_few_samples(profile, end, {10'000'000}).empty());
  profile.samples = 0, profile.agent_files = 0;
  cr_expect(why_few_samples(profile, end, {10'000'000}).find("did not start") != std::string::npos);
  profile.grow_refused = true, profile.last_errno = EMFILE;
  cr_expect(why_few_samples(profile, end, {10'000'000}).starts_with("for a while the profile could not"));
  profile.no_space = true, profile.last_errno = ENOSPC;
  cr_expect(why_few_samples(profile, end, {10'000'000}).find("No space left") != std::string::npos);
}

Test(record, the_second_line_names_what_was_not_recorded) {
  expect_same_text(words_with([](Finalized&) {}), "");
  expect_same_text(words_with([](Finalized& profile) {
                     profile.refused_processes = 2;
                     profile.first_refusal = {7, format::Refused::kFile, EMFILE};
                   }),
                   "2 programs were not recorded: its file could not be made (Too many open files)");
  cr_expect(words_with([](Finalized& profile) {
              profile.empty_files = 1;
            }).starts_with("1 program was not recorded: no room for the profile on its disk"));
  cr_expect(words_with([](Finalized& profile) {
              profile.filtered = 1;
            }).starts_with("1 program was recorded only until a seccomp filter of its own that kills"));
  expect_same_text(
      words_with([](Finalized& profile) { profile.threads_unsampled = 3, profile.last_errno = EAGAIN; }),
      "3 threads were not sampled: the kernel refused a timer, or memory (Resource temporarily "
      "unavailable); see ulimit -i");
  cr_expect(words_with([](Finalized& profile) {
              profile.small_stacks = 1;
            }).starts_with("1 thread was not sampled at the end: an alternate signal stack"));
  const auto held_back = [](Finalized& profile) { profile.samples = 0, profile.held_back = profile.cpu; };
  cr_expect(
      words_with(held_back).starts_with("no samples: the signals of the timers were held back; the "
                                        "program blocks SIGPROF"));
}

Test(record, times_and_numbers_are_for_people) {
  expect_same_text(with_commas(0), "0");
  expect_same_text(with_commas(999), "999");
  expect_same_text(with_commas(1000), "1,000");
  expect_same_text(with_commas(12345678), "12,345,678");
  expect_same_text(time_text({10'000'000}), "10 ms");
  expect_same_text(time_text({1'234'567}), "1.2 ms");
  expect_same_text(time_text({1'234'567'890}), "1.23 s");
  expect_same_text(time_text({3'723'000'000'000}), "62 min 3 s");
}

Test(record, a_child_is_a_descendant_and_init_is_not) {
  pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  std::vector<pid_t> all = descendants();
  cr_expect(std::find(all.begin(), all.end(), child) != all.end());
  cr_expect(is_descendant(child));
  cr_expect(!is_descendant(1));
  cr_expect(!is_followed(child));
  kill(child, SIGKILL);
}

Test(record, a_child_task_sends_all_and_ends) {
  std::string much(300'000, 'x');  // more than a pipe holds
  ChildTask task([&](const ChildTask::Send& send) {
    send("first ");
    send(much);
  });
  while (!task.ended_within(1000)) continue;
  cr_expect_eq(task.status(), 0);
  cr_expect(task.received() == "first " + much);
}

Test(record, a_crash_of_a_child_task_is_its_own) {
  ChildTask task([](const ChildTask::Send& send) {
    send("so far");
    std::signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    send("never");
  });
  while (!task.ended_within(1000)) continue;
  cr_assert(WIFSIGNALED(task.status()));
  cr_expect_eq(WTERMSIG(task.status()), SIGSEGV);
  expect_same_text(task.received(), "so far");
}

/// As the supervisor does, which waits for any child.
Test(record, a_child_task_may_be_reaped_by_another) {
  ChildTask task([](const ChildTask::Send& send) {
    send("sent");
    raise(SIGKILL);
  });
  int status = 0;
  cr_assert_eq(waitpid(-1, &status, 0), task.pid());
  task.reaped(status);
  cr_expect(task.ended_within(1000));
  cr_expect_eq(WTERMSIG(task.status()), SIGKILL);
  expect_same_text(task.received(), "sent");
}

Test(record, a_child_task_nobody_waits_for_is_killed) {
  pid_t pid = 0;
  {
    ChildTask task([](const ChildTask::Send&) {
      for (;;) pause();
    });
    pid = task.pid();
    cr_expect(!task.ended_within(0));
  }
  cr_expect_eq(waitpid(pid, nullptr, 0), -1);
  cr_expect_eq(kill(pid, 0), -1);
}

Test(record, without_a_profile_finalization_says_why) {
  Finalization finalization("/nowhere.varve", {});
  while (!finalization.task().ended_within(1000)) continue;
  Finalized result = finalization.result();
  cr_expect(!result.loaded);
  cr_expect(result.trouble.find("nowhere.varve") != std::string::npos, "%s", result.trouble.c_str());
}

Test(record, a_crash_of_the_lookup_keeps_the_numbers) {
  Scratch scratch;
  auto session = SessionWriter::create(scratch.descriptor, {});
  cr_assert(session.has_value());
  session->text(session_key::kFinished, "1");
  session->seal();
  Finalization finalization(scratch.path, {});
  ChildTask& task = finalization.task();
  while (!task.ended_within(1000)) continue;
  Finalized whole = finalization.result();
  cr_expect(whole.loaded);
  expect_same_text(whole.trouble, "");
  task.reaped(SIGSEGV);  // as if the child had got that far only
  Finalized part = finalization.result();
  cr_expect(part.loaded);
  expect_same_text(
      part.trouble,
      "the names could not be stored: the lookup was ended by SIGSEGV; varve report will look them up "
      "itself");
}
