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

constexpr uint64_t kLock = 0x1000;

/// As in critical_path_test: two threads that the first makes and waits for.
PathBuilder example() {
  PathBuilder built(120);
  const ThreadId t1 = built.thread("T1", 0, 120);
  const ThreadId t2 = built.thread("T2", 20, 90, t1, 10);
  const ThreadId t3 = built.thread("T3", 20, 100, t1, 10);
  built.wait(t1, ObjectKind::kThread, uint64_t(built.tid(t2)), 30, 90);
  built.wait(t1, ObjectKind::kThread, uint64_t(built.tid(t3)), 90, 110);
  built.wait(t3, ObjectKind::kMutex, kLock, 40, 60);
  built.release(t2, ObjectKind::kMutex, kLock, 50);
  built.wait(t3, ObjectKind::kDescriptor, 3, 70, 80);
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
  PathBuilder built = example();
  const analyze::Timeline line = line_of(built, {{0}, {1}, {2}}, 12);
  const auto strips = analyze::path_strips(built.profile(), line, built.path());
  cr_assert_eq(strips.size(), 3);
  cr_expect_str_eq(strips[0].c_str(), "=         ^=");
  cr_expect_str_eq(strips[1].c_str(), " v===       ");
  cr_expect_str_eq(strips[2].c_str(), "     v====  ");
}

Test(timeline_path, comes_from_where_rows_are) {
  PathBuilder built = example();
  const analyze::Timeline line = line_of(built, {{2}, {0}}, 12);  // T2 is not shown
  const auto strips = analyze::path_strips(built.profile(), line, built.path());
  cr_expect_str_eq(strips[0].c_str(), "     ^====  ");
  cr_expect_str_eq(strips[1].c_str(), "=         v=");
}

Test(timeline_path, of_a_slice_is_where_most_of_it_is) {
  PathBuilder built = example();
  const analyze::Timeline line =
      line_of(built, {{0}, {1}, {2}}, 2);  // 0 to 60: 10, 40, 10; 60 to 120: 40, 20
  const auto strips = analyze::path_strips(built.profile(), line, built.path());
  cr_expect_str_eq(strips[0].c_str(), "  ");
  cr_expect_str_eq(strips[1].c_str(), "= ");
  cr_expect_str_eq(strips[2].c_str(), " v");
}

Test(timeline_objects, are_what_blocked_slices_wait_for) {
  PathBuilder built = example();
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
