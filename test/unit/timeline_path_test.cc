// SPDX-License-Identifier: MIT
// What a timeline says of waits: where the critical path goes, and for what each slice waits. Context: tests.
#include <criterion/criterion.h>

#include "test/unit/path_builder.h"
#include "viewer/analyze/timeline_objects.h"
#include "viewer/analyze/timeline_path.h"

using namespace varve;
using format::ObjectKind;
using test::PathBuilder;

namespace {

PathBuilder observed_example() {
  PathBuilder built = test::breshears_example();
  built.observe();
  return built;
}

analyze::Timeline line_of(PathBuilder& built, std::vector<ThreadId> threads, size_t slices) {
  const load::Profile& profile = built.profile();
  const analyze::Levels levels(profile.run_states, built.path().run, [](TrackId) { return true; });
  return analyze::timeline(profile, levels, levels.range(), slices, std::move(threads));
}

char letter_of(ObjectKind kind) {
  return kind == ObjectKind::kThread ? 'T' : kind == ObjectKind::kMutex ? 'M' : 'D';
}

}  // namespace

Test(timeline_path, is_on_one_thread_at_a_time) {
  PathBuilder built = observed_example();
  const analyze::Timeline line = line_of(built, {{0}, {1}, {2}}, 12);
  const auto strips = analyze::path_strips(built.profile(), line, built.path());
  cr_assert_eq(strips.size(), 3);
  cr_expect_str_eq(strips[0].c_str(), "=         ^=");
  cr_expect_str_eq(strips[1].c_str(), " v===       ");
  cr_expect_str_eq(strips[2].c_str(), "     v====  ");
}

Test(timeline_path, comes_from_where_rows_are) {
  PathBuilder built = observed_example();
  const analyze::Timeline line = line_of(built, {{2}, {0}}, 12);  // T2 is not shown
  const auto strips = analyze::path_strips(built.profile(), line, built.path());
  cr_expect_str_eq(strips[0].c_str(), "     ^====  ");
  cr_expect_str_eq(strips[1].c_str(), "=         v=");
}

Test(timeline_path, of_a_slice_is_where_most_of_it_is) {
  PathBuilder built = observed_example();
  const analyze::Timeline line =
      line_of(built, {{0}, {1}, {2}}, 2);  // 0 to 60: 10, 40, 10; 60 to 120: 40, 20
  const auto strips = analyze::path_strips(built.profile(), line, built.path());
  cr_expect_str_eq(strips[0].c_str(), "  ");
  cr_expect_str_eq(strips[1].c_str(), "= ");
  cr_expect_str_eq(strips[2].c_str(), " v");
}

Test(timeline_objects, are_what_blocked_slices_wait_for) {
  PathBuilder built = observed_example();
  const analyze::Timeline line = line_of(built, {{0}, {1}, {2}}, 12);
  const analyze::TimelineObjects found = analyze::timeline_objects(built.profile(), line);
  cr_assert_eq(found.objects.size(), 4);
  cr_expect_eq(found.objects[0].kind, ObjectKind::kThread);
  cr_expect_eq(found.objects[0].address, uint64_t(built.tid({1})), "the end of T2 has most of the slices");
  std::string words;
  for (size_t i = 0; i < found.of.size(); ++i) {
    if (i % 12 == 0 && i != 0) words += ' ';
    const uint32_t object = found.of[i];
    words += object == analyze::kNoObject ? '.' : letter_of(found.objects[object].kind);
  }
  cr_expect_str_eq(words.c_str(), "...TTTTTTTT. ............ ....MM.D....");
}
