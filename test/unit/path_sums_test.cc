// SPDX-License-Identifier: MIT
// What the parts of the critical path are charged to. Context: tests.
#include "viewer/analyze/path_sums.h"

#include <criterion/criterion.h>

#include <array>

#include "test/unit/path_builder.h"

using namespace varve;
using varve::test::PathBuilder;

/// What a thread did after its last sample is its residual time, not more of what the sample saw long ago.
Test(critical_path, time_after_the_last_sample_is_residual) {
  PathBuilder builder(100);
  const ThreadId main = builder.thread("main", 0, 100);
  builder.observe();
  load::Profile& profile = builder.profile();
  profile.sites = {{{0}, {0x1000}}, {ModuleId::none(), {uint64_t(load::SpecialSite::kResidual)}}};
  profile.paths = {{}, {{0}, {0}}, {{0}, {1}}};
  profile.samples.time_ns = {PathBuilder::kStart + 10'000'000, PathBuilder::kStart + 100'000'000};
  profile.samples.weight_ns = {10'000'000, 90'000'000};
  profile.samples.thread = {main, main};
  profile.samples.path = {{1}, {2}};
  profile.samples.ticks = {1, 0};
  const analyze::CriticalPath path = builder.path();
  const analyze::SegmentPaths paths(profile);
  std::array<uint64_t, 3> ns{};
  for (const analyze::PathSegment& segment : path.segments)
    paths.for_each(segment, [&](PathId at, uint64_t length) { ns[at.index()] += length; });
  cr_expect_eq(ns[0], 0);
  cr_expect_eq(ns[1], 10'000'000);
  cr_expect_eq(ns[2], 90'000'000);
}
