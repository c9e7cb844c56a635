// SPDX-License-Identifier: MIT
// Bands and classes of levels against targets, and what a session's texts say of the machine. Context: tests.
#include <criterion/criterion.h>

#include "viewer/analyze/bands.h"

using namespace varve;
using namespace varve::analyze;

Test(bands, of_levels_against_targets) {
  using enum Band;
  struct {
    double target;
    std::vector<Band> bands;  // of level 0, 1, 2 ...
  } const cases[] = {
      {1, {kIdle, kIdeal, kOver, kOver, kOver}},
      {1.5, {kIdle, kOk, kOver, kOver, kOver}},
      {2, {kIdle, kPoor, kIdeal, kOver, kOver}},
      {4, {kIdle, kPoor, kPoor, kOk, kIdeal, kOver}},
      {8, {kIdle, kPoor, kPoor, kPoor, kPoor, kOk, kOk, kIdeal, kIdeal, kIdeal, kOver}},
  };
  for (const auto& each : cases) {
    for (size_t level = 0; level < each.bands.size(); ++level) {
      const BandRule rule{Scale::kConcurrency, each.target, {50, 85, 115}};
      cr_expect_eq(int(rule.of(double(level))), int(each.bands[level]), "level %zu of %g", level,
                   each.target);
      const BandRule use{Scale::kUtilization, each.target, {50, 85, 115}};
      const Band wanted = each.bands[level] == kOver ? kIdeal : each.bands[level];
      cr_expect_eq(int(use.of(double(level))), int(wanted), "use of level %zu of %g", level, each.target);
    }
  }
  const BandRule rule{Scale::kConcurrency, 4, {20, 50, 75}};
  const Band wanted[] = {kIdle, kOk, kOk, kIdeal, kOver};
  for (size_t level = 0; level < 5; ++level) cr_expect_eq(int(rule.of(double(level))), int(wanted[level]));
}

Test(bands, classes_of_levels) {
  using enum LevelClass;
  const LevelClass four[] = {kIdle, kSerial, kUndersubscribed, kUndersubscribed, kParallel, kOversubscribed};
  for (uint64_t i = 0; i < 6; ++i) cr_expect_eq(int(class_of(i, 4)), int(four[i]));
  const LevelClass one[] = {kIdle, kParallel, kOversubscribed};
  for (uint64_t i = 0; i < 3; ++i) cr_expect_eq(int(class_of(i, 1)), int(one[i]));
}

/// What the threads of the run could use for most of it, where the observer looked.
Test(bands, what_the_program_could_use_for_most_of_the_time) {
  struct {
    std::vector<const char*> usable;
    double processors, cores;
  } const cases[] = {
      {{}, 8, 4},
      {{"0 1 0"}, 1, 1},
      {{"0 4 0-7", "1000 1 0-1"}, 2, 1},
      {{"0 4 0-7", "9000 1 0-1"}, 8, 4},
      {{"0 2 0-1", "3000 1 5", "7500 4 0-7"}, 1, 1},
      {{"0 0 0-1"}, 2, 2},
      // Damaged ones say nothing.
      {{"", "x", "5", "7 8", "0 4 x-", "18446744073709551616 1 9-"}, 8, 4},
      {{"9000 1 0", "0 1 0-2"}, 3, 1},
  };
  for (const auto& each : cases) {
    load::Session session;
    session.processors = 8;
    session.elapsed = {10000};
    session.texts = {{"affinity", "0-7"}, {"cores", "4"}};
    for (const char* usable : each.usable) session.texts.emplace_back("usable", usable);
    const Machine machine = machine_of(session);
    const char* first = each.usable.empty() ? "" : each.usable.front();
    cr_expect_float_eq(machine.usable, each.processors, 1e-9, "'%s': %g", first, machine.usable);
    cr_expect_float_eq(machine.cores, each.cores, 1e-9, "'%s': %g cores", first, machine.cores);
  }
}

Test(bands, what_the_command_could_use) {
  struct {
    const char *affinity, *cores, *limit;
    uint32_t processors;
    double usable, physical;
  } const cases[] = {
      {"0-3,8", "5", "max 100000", 16, 5, 5},
      {"0-3,8", "3", "max 100000", 16, 5, 3},
      {"0-7", "4", "150000 100000", 8, 1.5, 1.5},
      {"0-7", "4", "600000 100000", 8, 6, 4},
      {"", "", "", 8, 8, 8},
      {"", "", "", 0, 1, 1},
      {"3", "", "50000 100000", 8, 0.5, 0.5},
      {"0-3\n", "4\n", "200000 100000\n", 8, 2, 2},
      // Damaged ones say nothing.
      {"3-0", "0", "0 100000", 8, 8, 8},
      {"x,y-z", "x", "100000 0", 8, 8, 8},
      {"-", "-1", "100000", 8, 8, 8},
      {",,,", "", " ", 8, 8, 8},
      {"0-99999999999999999999", "", "99999999999999999999 1", 8, 8, 8},
      {"18446744073709551615", "", "max", 8, 8, 8},
  };
  for (const auto& each : cases) {
    load::Session session;
    session.processors = each.processors;
    session.texts = {{"affinity", each.affinity}, {"cores", each.cores}, {"cgroup_cpu_max", each.limit}};
    const Machine machine = machine_of(session);
    cr_expect_float_eq(machine.usable, each.usable, 1e-9, "'%s' '%s': %g", each.affinity, each.limit,
                       machine.usable);
    cr_expect_float_eq(machine.cores, each.physical, 1e-9, "'%s' '%s': %g cores", each.affinity, each.limit,
                       machine.cores);
    cr_expect_eq(default_target(machine, Scale::kUtilization), machine.usable);
    cr_expect_eq(default_target(machine, Scale::kConcurrency), machine.cores);
  }
  load::Session session;
  session.processors = UINT32_MAX;
  cr_expect_eq(machine_of(session).processors, 8192);
}
