// SPDX-License-Identifier: MIT
// Where time without a stack stands in call trees: below what called the routine of its thread. Context:
// tests.
#include <criterion/criterion.h>

#include <vector>

#include "test/unit/profile_builder.h"
#include "test/unit/time_units.h"

using namespace varve;
using namespace varve::test;

/// Where stacks say what called the routine, its residual time stands below that.
Test(start_sites, residual_time_stands_where_stacks_of_the_routine_do) {
  ProfileBuilder builder;
  size_t process = builder.add_process(1);
  builder.add_thread(process, 1);
  builder.add_module(process, {.path = "/lib/c.so", .start = 0x8000, .end = 0x9000});
  builder.add_module(process, {.path = "/bin/a", .start = 0x100000, .end = 0x200000, .bias = 0x100000});
  for (int32_t tid = 2; tid < 4; ++tid) {
    uint32_t thread = builder.add_thread(process, tid);
    builder.process(process).threads[thread].start_routine = 0x100400;
    builder.process(process).threads[thread].end_cpu_ns = 13 * kMs;
  }
  // Of what lies far behind the routine's begin nobody knows whether it is in it.
  builder.add_sample(process, 1, {0x8010, 0x8020, 0x180000, 0x100480, 0x100600});
  auto profile = builder.load();
  size_t rows = 0;
  for (size_t row = 0; row < profile.samples.size(); ++row) {
    const load::Path& leaf = profile.paths[profile.samples.path[row].index()];
    if (!profile.sites[leaf.site.index()].special()) continue;
    std::vector<uint64_t> above;
    for (PathId path = leaf.parent; path.index() != 0; path = profile.paths[path.index()].parent)
      above.push_back(profile.sites[profile.paths[path.index()].site.index()].vaddr.value);
    cr_expect(above == (std::vector<uint64_t>{0x400, 0x80000, 0x8020, 0x8010}));
    ++rows;
  }
  cr_expect_eq(rows, 2);
}
