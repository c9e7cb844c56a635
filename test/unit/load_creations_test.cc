// SPDX-License-Identifier: MIT
// Creations: which object of an address a wait is for.
#include <criterion/criterion.h>

#include "viewer/load/creations.h"

namespace varve::load {
namespace {

using format::ObjectKind;

Profile profile_with(std::vector<Creation> creations, std::vector<Wait> waits) {
  Profile profile;
  profile.processes.resize(2);
  profile.threads.resize(3);
  for (uint32_t i = 0; i < 3; ++i)
    profile.threads[i].process = {i / 2};  // two of the first, one of the other
  profile.waits.creations = std::move(creations);
  profile.waits.waits = std::move(waits);
  return profile;
}

Creation creation_at(uint64_t time, uint64_t object, uint32_t thread = 0, bool made = true) {
  return {time, object, {thread}, {0}, ObjectKind::kMutex, made};
}
Wait since(uint64_t begin, uint64_t object, uint32_t thread = 0, ObjectKind kind = ObjectKind::kMutex) {
  return {begin + 50, 50, object, {thread}, {0}, 1, kind};
}

uint32_t creation_of(std::vector<Creation> creations, const Wait& wait) {
  Profile profile = profile_with(std::move(creations), {wait});
  find_creations(profile);
  return profile.waits.waits[0].creation;
}

}  // namespace

Test(creations, a_wait_is_for_the_last_object_made_there_before) {
  const std::vector<Creation> three = {creation_at(10, 0x40), creation_at(20, 0x80), creation_at(30, 0x40)};
  cr_expect_eq(creation_of(three, since(9, 0x40)), 0u);
  cr_expect_eq(creation_of(three, since(10, 0x40)), 1u);
  cr_expect_eq(creation_of(three, since(29, 0x40)), 1u);
  cr_expect_eq(creation_of(three, since(30, 0x40)), 3u);
  cr_expect_eq(creation_of(three, since(99, 0x80)), 2u);
  cr_expect_eq(creation_of(three, since(99, 0xc0)), 0u);
}

Test(creations, what_was_destroyed_is_no_object) {
  // Who waited may wake up only when the next is there.
  const std::vector<Creation> next = {creation_at(10, 0x40), creation_at(30, 0x40, 1, false),
                                      creation_at(31, 0x40, 1)};
  cr_expect_eq(creation_of(next, since(20, 0x40)), 1u);
  cr_expect_eq(creation_of({creation_at(10, 0x40), creation_at(20, 0x40, 0, false)}, since(19, 0x40)), 1u);
  cr_expect_eq(creation_of({creation_at(10, 0x40), creation_at(20, 0x40, 0, false)}, since(25, 0x40)), 0u);
  cr_expect_eq(creation_of({creation_at(10, 0x40), creation_at(20, 0x40, 0, false), creation_at(20, 0x40)},
                           since(25, 0x40)),
               3u);
}

/// Its memory is a copy of the parent's, as that was then.
Test(creations, a_forked_child_has_its_parents_objects) {
  Profile profile =
      profile_with({creation_at(10, 0x40), creation_at(30, 0x80)}, {since(50, 0x40, 2), since(50, 0x80, 2)});
  profile.processes[0].pid = 7, profile.processes[1].pid = 8, profile.processes[1].ppid = 7;
  profile.processes[1].start_time = {20};
  const auto creations = [&] {
    for (Wait& wait : profile.waits.waits) wait.creation = 0;
    find_creations(profile);
    return std::pair(profile.waits.waits[0].creation, profile.waits.waits[1].creation);
  };
  cr_expect(creations() == std::pair(1u, 0u), "but not what was made after the fork");
  profile.processes[1].exe = "/usr/bin/other";
  cr_expect(creations() == std::pair(0u, 0u), "another program has other memory");
  profile.processes[1].exe = "", profile.processes[1].ppid = 8;
  cr_expect(creations() == std::pair(0u, 0u), "and no circle is without an end");
}

Test(creations, the_last_of_several_short_waits_counts) {
  Wait sum = since(10, 0x40);  // until 60
  sum.count = 10;
  cr_expect_eq(creation_of({creation_at(5, 0x40), creation_at(50, 0x40)}, sum), 2u);
  cr_expect_eq(creation_of({creation_at(5, 0x40), creation_at(56, 0x40)}, sum), 1u);
}

Test(creations, another_process_has_objects_of_its_own) {
  cr_expect_eq(creation_of({creation_at(10, 0x40, 1)}, since(20, 0x40, 0)),
               1u);  // another thread of the same
  cr_expect_eq(creation_of({creation_at(10, 0x40, 2)}, since(20, 0x40, 0)), 0u);
}

/// One that nobody waited for is not shown, so it has no number either.
Test(creations, lives_of_an_address_are_numbered) {
  Profile profile =
      profile_with({creation_at(10, 0x40), creation_at(20, 0x40), creation_at(30, 0x40),
                    creation_at(30, 0x80), creation_at(40, 0x40, 2)},
                   {since(12, 0x40), since(13, 0x40), since(33, 0x40), since(34, 0x80), since(44, 0x40, 2)});
  find_creations(profile);
  std::vector<uint32_t> lives;
  for (const Creation& creation : profile.waits.creations) lives.push_back(creation.life);
  cr_expect(lives == std::vector<uint32_t>({1, 0, 2, 1, 1}));

  // A lock that needs no call to be made, which is destroyed and made anew.
  profile = profile_with({creation_at(20, 0x40)}, {since(12, 0x40), since(33, 0x40)});
  find_creations(profile);
  cr_expect_eq(profile.waits.creations[0].life, 2u);
}

Test(creations, numbers_are_no_addresses) {
  cr_expect_eq(creation_of({creation_at(10, 5)}, since(20, 5, 0, ObjectKind::kDescriptor)), 0u);
  cr_expect_eq(creation_of({creation_at(10, 5)}, since(20, 5, 0, ObjectKind::kFutex)), 1u);
}

}  // namespace varve::load
