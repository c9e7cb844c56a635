// SPDX-License-Identifier: MIT
// For what the critical path waited where agents only added such waits up. Context: tests.
#include <criterion/criterion.h>

#include <functional>
#include <string>

#include "test/unit/path_builder.h"
#include "viewer/analyze/object_names.h"

using namespace varve;
using format::ObjectKind;
using test::PathBuilder;

namespace {

constexpr ThreadId kSleeper = {0};

/// What the path waited for from 10 to 20 ms, which the observer saw `seen` as; empty: nobody knows.
std::string blocking_of(WaitKind seen, const std::function<void(PathBuilder&)>& add_sums) {
  PathBuilder built(40);
  built.thread("main", 0, 40);
  built.wait(kSleeper, ObjectKind::kDescriptor, 3, 10, 20);
  built.observe();
  built.profile().waits.waits.clear();
  for (load::RunEvent& event : built.profile().run_states.events)
    if (event.running == 0) event.wait = seen;
  add_sums(built);
  const analyze::CriticalPath path = built.path();
  for (const analyze::PathSegment& segment : path.segments) {
    if (segment.what != analyze::PathClass::kBlocking || segment.wait == analyze::kNoWait) continue;
    cr_expect_eq(segment.range.length(), 10'000'000);
    return std::string(analyze::kind_name(built.profile().waits.waits[segment.wait].kind));
  }
  return "";
}

void sleeps(PathBuilder& built) { built.wait(kSleeper, ObjectKind::kSleep, 0, 10, 22, 100); }
void reads(PathBuilder& built, uint64_t file) {
  built.wait(kSleeper, ObjectKind::kDescriptor, file, 9, 23, 100);
}

Test(unfollowed_waits, say_what_the_path_waited_for) {
  cr_expect(blocking_of(WaitKind::kOther, sleeps) == "Sleep");
  cr_expect(blocking_of(WaitKind::kSleep, sleeps) == "Sleep");
  cr_expect(blocking_of(WaitKind::kOther, [](PathBuilder& built) { reads(built, 3); }) == "Stream");
}

Test(unfollowed_waits, say_nothing_where_several_may_be_it) {
  cr_expect(blocking_of(WaitKind::kOther, [](PathBuilder& built) {
              sleeps(built);
              reads(built, 3);
            }).empty());
  cr_expect(blocking_of(WaitKind::kIo, [](PathBuilder& built) {
              reads(built, 3);
              reads(built, 4);
            }).empty());
  const std::string by_kind = blocking_of(WaitKind::kIo, [](PathBuilder& built) {
    sleeps(built);
    reads(built, 3);
  });
  cr_expect(by_kind == "Stream", "what the observer saw of it says which");
}

/// Of another kind, with less time, long before or long after it.
Test(unfollowed_waits, say_nothing_of_what_they_cannot_have) {
  cr_expect(blocking_of(WaitKind::kIo, sleeps).empty());
  const auto of = [](double begin, double end) {
    return blocking_of(WaitKind::kOther, [&](PathBuilder& built) {
      built.wait(kSleeper, ObjectKind::kSleep, 0, begin, end, 100);
    });
  };
  cr_expect(of(20, 24).empty());
  cr_expect(of(0, 9).empty());
  cr_expect(of(22, 39).empty());
}

}  // namespace
