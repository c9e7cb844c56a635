// SPDX-License-Identifier: MIT
// When the observer looks: at a thread's stack again, and at all again after an event. Context: tests.
#include "viewer/record/observe/stack_pace.h"

#include <criterion/criterion.h>

#include "test/unit/scratch.h"
#include "test/unit/time_units.h"
#include "viewer/record/chunk_writer.h"
#include "viewer/record/observe/switch_tracks.h"

using namespace varve;
using namespace varve::record::observe;
using EventKind = RingEvent::Kind;
using News = SwitchTracks::News;

namespace {

SyscallLook same_call(uint64_t program_counter) {
  SyscallLook call;
  call.stack_pointer = 0x7000;
  call.program_counter = program_counter;
  return call;
}

void look(StackPace& pace, Nanos now, uint64_t program_counter, bool in_hook) {
  pace.look(now);
  pace.blocked_in(same_call(program_counter));
  pace.found(in_hook, same_call(program_counter));
}

RingEvent happens(uint64_t ms, EventKind kind, int32_t tid = 11) {
  RingEvent event;
  event.time = {ms * kMs};
  event.kind = kind;
  event.pid = 10;
  event.tid = tid;
  return event;
}

}  // namespace

Test(stack_pace, the_same_hook_again_and_again_is_looked_at_ever_less_often) {
  StackPace pace;
  cr_expect(pace.due({1000 * kMs}));
  look(pace, {1000 * kMs}, 0x1000, true);
  cr_expect_not(pace.is_told({1000 * kMs}), "found there once");
  cr_expect_not(pace.due({1049 * kMs}));
  cr_expect(pace.due({1050 * kMs}));
  look(pace, {1050 * kMs}, 0x1000, true);
  cr_expect(pace.is_told({1050 * kMs}));
  cr_expect_not(pace.due({1149 * kMs}));
  for (uint64_t ms : {1150, 1350, 1750}) look(pace, {ms * kMs}, 0x1000, true);
  cr_expect_not(pace.due({2149 * kMs}));
  cr_expect(pace.due({2150 * kMs}), "a few times a second, though");
}

Test(stack_pace, without_a_hook_nobody_tells_for_some_seconds) {
  StackPace pace;
  for (uint64_t ms : {1000, 1050}) look(pace, {ms * kMs}, 0x1000, true);
  look(pace, {1150 * kMs}, 0x2000, false);
  cr_expect(pace.due({1200 * kMs}));
  for (uint64_t ms : {1200, 1250, 1350}) look(pace, {ms * kMs}, 0x1000, true);
  cr_expect_not(pace.due({1400 * kMs}), "it is in the hook again");
  cr_expect_not(pace.is_told({6149 * kMs}), "but may go there again");
  cr_expect(pace.is_told({6150 * kMs}));
}

Test(stack_pace, in_another_hook_nobody_is_sure_yet) {
  StackPace pace;
  for (uint64_t ms : {1000, 1050}) look(pace, {ms * kMs}, 0x1000, true);
  pace.blocked_in(same_call(0x2000));
  cr_expect_not(pace.is_told({1060 * kMs}));
  cr_expect(pace.due({1100 * kMs}), "so its stack is looked at soon");
  for (uint64_t ms : {1100, 1150}) look(pace, {ms * kMs}, 0x2000, true);
  cr_expect(pace.is_told({1150 * kMs}));
}

Test(stack_pace, of_another_program_nothing_is_known) {
  StackPace pace;
  for (uint64_t ms : {1000, 1050}) look(pace, {ms * kMs}, 0x1000, true);
  pace.begin_again();
  cr_expect_not(pace.is_told({1051 * kMs}));
  cr_expect(pace.due({1051 * kMs}));
}

Test(stack_pace, only_a_told_wait_can_be_looked_at_later) {
  for (bool told : {false, true})
    for (bool lively : {false, true}) {
      cr_expect(SwitchTracks::news_of(EventKind::kIn, told, lively) == News::kNone);
      cr_expect(SwitchTracks::news_of(EventKind::kOutReady, told, lively) == News::kNone);
      cr_expect(SwitchTracks::news_of(EventKind::kExit, told, lively) == News::kChange);
      cr_expect(SwitchTracks::news_of(EventKind::kOutBlocked, told, lively) ==
                (told && !lively ? News::kToldWait : News::kChange));
    }
}

Test(stack_pace, what_begins_to_wait_and_what_changes_is_to_be_looked_at_soon) {
  test::Scratch scratch;
  auto writer =
      ObserverWriter::create(scratch.descriptor, record::make_file_header(format::FileKind::kSession));
  cr_assert(writer.has_value());
  SwitchTracks tracks(**writer, {10, false});
  cr_expect(tracks.take(happens(1, EventKind::kFork)) == News::kChange);
  cr_expect(tracks.take(happens(2, EventKind::kIn)) == News::kNone);
  cr_expect(tracks.take(happens(3, EventKind::kOutReady)) == News::kNone);
  cr_expect(tracks.take(happens(5000, EventKind::kOutBlocked)) == News::kChange, "no hook tells of it");
  cr_expect(tracks.take(happens(5001, EventKind::kExit)) == News::kChange);
  RingEvent others = happens(5002, EventKind::kExit, 31);
  others.pid = 30;
  cr_expect(tracks.take(others) == News::kNone, "not of this run");
}
