// SPDX-License-Identifier: MIT
// Which kind of wait a blocked thread has where nobody looked, and where somebody did. Context: tests.
#include <criterion/criterion.h>

#include <utility>
#include <vector>

#include "test/unit/time_units.h"
#include "viewer/load/wait_kinds.h"

using namespace varve;

namespace {

/// A thread that is blocked from 10 to 18 ms, as the observer saw it, and its waits.
WaitKind kind_of(WaitKind seen, std::vector<load::Wait> waits) {
  load::Profile profile;
  profile.processes.emplace_back();
  load::Thread thread;
  thread.process = {0};
  thread.track = {0};
  profile.threads.push_back(thread);
  load::RunStates& states = profile.run_states;
  states.source = load::RunStates::Source::kSwitches;
  states.tracks.emplace_back();
  states.end = {100 * kMs};
  for (const auto& [ms, runs] : {std::pair(0, true), std::pair(10, false), std::pair(18, true)}) {
    load::RunEvent event;
    event.time_ns = uint64_t(ms) * kMs;
    event.track = {0};
    event.running = runs ? load::RunEvent::kWhole : uint16_t(0);
    event.wait = runs ? WaitKind::kOther : seen;
    states.events.push_back(event);
  }
  for (load::Wait& wait : waits) wait.thread = {0};
  profile.waits.waits = std::move(waits);
  load::tell_wait_kinds(profile);
  return states.events[1].wait;
}

load::Wait wait_of(format::ObjectKind kind, uint64_t end_ms, uint64_t ms, uint32_t count, bool observed) {
  load::Wait wait;
  wait.kind = kind;
  wait.end_ns = end_ms * kMs;
  wait.duration_ns = ms * kMs;
  wait.count = count;
  wait.observed = observed;
  return wait;
}

Test(wait_kinds, are_those_of_recorded_waits) {
  using enum format::ObjectKind;
  const bool lock = kind_of(WaitKind::kIo, {wait_of(kMutex, 18, 9, 1, false)}) == WaitKind::kLock;
  cr_expect(lock, "a hook knows");
  const bool kept = kind_of(WaitKind::kLock, {wait_of(kFutex, 18, 9, 1, true)}) == WaitKind::kLock;
  cr_expect(kept, "the look knows more than its system call");
}

Test(wait_kinds, are_those_of_sums_that_may_have_them) {
  using enum format::ObjectKind;
  const auto of_sum = [](load::Wait wait) { return kind_of(WaitKind::kOther, {wait}); };
  cr_expect(of_sum(wait_of(kMutex, 20, 9, 3, false)) == WaitKind::kLock);
  cr_expect(of_sum(wait_of(kMutex, 20, 7, 3, false)) == WaitKind::kOther, "all of them take less time");
  cr_expect(of_sum(wait_of(kMutex, 40, 9, 3, false)) == WaitKind::kOther, "too late");
  cr_expect(of_sum(wait_of(kDescriptor, 40, 7, 3, true)) == WaitKind::kIo,
            "a look stands for those around it");
  const bool seen = kind_of(WaitKind::kSleep, {wait_of(kMutex, 20, 9, 3, false)}) == WaitKind::kSleep;
  cr_expect(seen, "what was seen is so");
}

Test(wait_kinds, of_several_sums_are_not_guessed) {
  using enum format::ObjectKind;
  const auto of_sums = [](format::ObjectKind second, bool observed) {
    return kind_of(WaitKind::kOther, {wait_of(kMutex, 20, 9, 3, false), wait_of(second, 21, 9, 3, observed)});
  };
  cr_expect(of_sums(kRwLock, false) == WaitKind::kLock, "both are of one kind");
  cr_expect(of_sums(kDescriptor, false) == WaitKind::kOther);
  cr_expect(of_sums(kDescriptor, true) == WaitKind::kLock, "a look is of what is nearest to it");
}

}  // namespace
