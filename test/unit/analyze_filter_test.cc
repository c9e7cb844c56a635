// SPDX-License-Identifier: MIT
// D-47: a filter gives what a profile without the other samples gives; and what each filter means. Context:
// tests.
#include <criterion/criterion.h>

#include <tuple>

#include "test/unit/random_profile.h"
#include "viewer/analyze/attribute.h"
#include "viewer/analyze/concurrency.h"
#include "viewer/analyze/filter.h"

using namespace varve;
using namespace varve::analyze;
using varve::test::RandomProfile;

namespace {

Pattern pattern_of(const char* expression) { return *Pattern::parse(expression); }

/// Leaves only those rows for which `keep` holds.
template <typename Keep>
void restrict_to(RandomProfile& made, const Keep& keep) {
  load::Samples kept;
  const load::Samples& rows = made.profile.samples;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!keep(made, i)) continue;
    kept.time_ns.push_back(rows.time_ns[i]);
    kept.weight_ns.push_back(rows.weight_ns[i]);
    kept.thread.push_back(rows.thread[i]);
    kept.path.push_back(rows.path[i]);
    kept.ticks.push_back(rows.ticks[i]);
  }
  made.profile.samples = kept;
}

std::vector<std::pair<uint64_t, uint64_t>> hotspots(const RandomProfile& made, const Filter& filter) {
  Selection selection = select(made.profile, made.symbols, filter, {});
  const Flat flat =
      attribute(made.profile.paths, selection.by_path, function_keys(made.profile, made.symbols, true));
  std::vector<std::pair<uint64_t, uint64_t>> rows;
  for (size_t i = 0; i < flat.self.rows(); ++i)
    rows.emplace_back(flat.self.at(i, kCpu), flat.total.at(i, kCpu));
  return rows;
}

template <typename Keep>
void check_kept(const Filter& filter, const Keep& keep) {
  size_t least = SIZE_MAX, most = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const RandomProfile made = test::random_profile(seed);
    RandomProfile rest = test::random_profile(seed);
    restrict_to(rest, keep);
    cr_expect(hotspots(made, filter) == hotspots(rest, {}));
    const Selection selection = select(made.profile, made.symbols, filter, {});
    cr_expect_eq(selection.kept[kCpu] + selection.filtered_out[kCpu], made.profile.kernel_cpu.count);
    cr_expect_eq(selection.by_thread.sum()[kCpu], selection.kept[kCpu]);
    cr_expect_eq(selection.by_path.sum()[kSamples], selection.kept[kSamples]);
    least = std::min(least, rest.profile.samples.size());
    most = std::max(most, rest.profile.samples.size());
  }
  cr_expect_lt(least, 300, "the filter never cut anything");
  cr_expect_gt(most, 0, "the filter cut everything");
}

const load::Thread* thread_of(const RandomProfile& made, size_t i) {
  const ThreadId id = made.profile.samples.thread[i];
  return id.valid() ? &made.profile.threads[id.index()] : nullptr;
}

}  // namespace

Test(analyze_filter, thread_by_name_and_by_number) {
  Filter filter;
  filter.thread = pattern_of("^work");
  check_kept(filter, [](const RandomProfile& made, size_t i) {
    const load::Thread* thread = thread_of(made, i);
    return thread != nullptr && thread->name == "worker";
  });
  filter.thread = pattern_of("1001");
  check_kept(filter, [](const RandomProfile& made, size_t i) {
    const load::Thread* thread = thread_of(made, i);
    return thread != nullptr && thread->tid == 1001;
  });
}

Test(analyze_filter, process_by_name_and_by_number) {
  for (const char* expression : {"g1$", "101"}) {
    Filter filter;
    filter.process = pattern_of(expression);
    check_kept(filter, [](const RandomProfile& made, size_t i) {
      const load::Thread* thread = thread_of(made, i);
      return thread != nullptr && made.profile.processes[thread->process.index()].pid == 101;
    });
  }
}

Test(analyze_filter, module_of_the_executing_code) {
  Filter filter;
  filter.module = pattern_of("lib[12]");
  check_kept(filter, [](const RandomProfile& made, size_t i) {
    const PathId path = made.profile.samples.path[i];
    if (path.value == 0) return false;
    const ModuleId module = made.profile.sites[made.profile.paths[path.index()].site.index()].module;
    return module.valid() && (module.value == 1 || module.value == 2);
  });
}

Test(analyze_filter, function_anywhere_in_the_stack) {
  Filter filter;
  filter.function = pattern_of("plain_1[05]$");
  check_kept(filter, [](const RandomProfile& made, size_t i) {
    for (const auto& frame : test::stack_of(made, made.profile.samples.path[i], true)) {
      if (frame.function.value == 10 || frame.function.value == 15) return true;
    }
    return false;
  });
}

Test(analyze_filter, time_from_the_start_half_open) {
  Filter filter;
  filter.from = {200'000'000};
  filter.to = {600'000'000};
  check_kept(filter, [](const RandomProfile& made, size_t i) {
    const uint64_t time = made.profile.samples.time_ns[i] - made.profile.session.start_time.count;
    return time >= 200'000'000 && time < 600'000'000;
  });
}

Test(analyze_filter, all_at_once) {
  Filter filter;
  filter.thread = pattern_of("main|worker");
  filter.function = pattern_of("method");
  filter.to = {800'000'000};
  check_kept(filter, [](const RandomProfile& made, size_t i) {
    const load::Thread* thread = thread_of(made, i);
    if (thread == nullptr || (thread->name != "main" && thread->name != "worker")) return false;
    if (made.profile.samples.time_ns[i] - made.profile.session.start_time.count >= 800'000'000) return false;
    for (const auto& frame : test::stack_of(made, made.profile.samples.path[i], true)) {
      if (frame.function.valid() && frame.function.value < 30 && frame.function.value % 5 == 1) return true;
    }
    return false;
  });
}

Test(analyze_filter, expressions_that_do_not_parse) {
  for (const char* expression : {"(", "[a", "a{2,1}", "\\"}) {
    const auto parsed = Pattern::parse(expression);
    cr_assert_not(parsed.has_value(), "%s", expression);
    cr_expect(parsed.error().starts_with("is not a regular expression: "), "%s", parsed.error().c_str());
  }
  cr_expect(Pattern().matches("anything"));
}

/// Linked programs: `as` is x86_64-linux-gnu-as, redis-server is redis-check-rdb.
Test(analyze_filter, processes_by_what_the_user_typed) {
  const std::tuple<std::vector<std::string>, const char*, const char*> cases[] = {
      {{"as", "-o", "x.o"}, "/usr/bin/x86_64-linux-gnu-as", "as"},
      {{"/opt/bin/redis-server", "*:6379"}, "/usr/bin/redis-check-rdb", "redis-server"},
      {{"-bash"}, "/usr/bin/bash", "bash"},
      {{"sshd: root [priv]"}, "/usr/sbin/sshd", "sshd"},
      {{""}, "/usr/bin/true", "true"},
      {{}, "/usr/bin/true", "true"},
  };
  for (const auto& [argv, exe, name] : cases) {
    load::Process process;
    process.argv = argv;
    process.exe = exe;
    const std::string got(program_name(process));
    cr_expect_eq(got, std::string(name), "%s instead of %s", got.c_str(), name);
  }
  RandomProfile made = test::random_profile(1);
  for (load::Process& process : made.profile.processes) process.argv = {"/usr/bin/as"};
  for (const char* either : {"^as$", "^prog"}) {
    Filter filter;
    filter.process = pattern_of(either);
    const Selection selection = select(made.profile, made.symbols, filter, {});
    cr_expect_gt(selection.kept[kCpu], 0, "%s", either);
  }
}

/// One by the name that was typed, the other by that of the file: each is found, so both together are.
Test(analyze_filter, two_processes_filters_are_met_one_by_one) {
  RandomProfile made = test::random_profile(1);
  for (load::Process& process : made.profile.processes) process.argv = {"/usr/bin/as"};
  Filter filter;
  filter.process = pattern_of("^as$").and_also(pattern_of("^prog"));
  cr_expect_gt(select(made.profile, made.symbols, filter, {}).kept[kCpu], 0);
  filter.process = filter.process.and_also(pattern_of("^neither$"));
  cr_expect_eq(select(made.profile, made.symbols, filter, {}).kept[kCpu], 0);
}

Test(analyze_filter, an_empty_expression_is_refused) {
  cr_expect_not(Pattern::parse("").has_value());
  cr_expect(Pattern::parse(".*").has_value());
}
