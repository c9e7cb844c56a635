// SPDX-License-Identifier: MIT
// Turns of threads begin when the kernel began to charge them. Context: tests.
#include <criterion/criterion.h>

#include <vector>

#include "test/unit/two_threads.h"
#include "viewer/load/switch_costs.h"

using namespace varve;
using namespace varve::load;

namespace {

/// Threads with a look at their clocks at 0 and at 10 ms.
struct Charged {
  Profile profile;

  explicit Charged(uint32_t threads) {
    RunStates& states = profile.run_states;
    states.source = RunStates::Source::kSwitches;
    states.end = {10 * kMs};
    states.tracks.resize(threads);
    for (uint32_t i = 0; i < threads; ++i) {
      Thread thread;
      thread.track = {i};
      thread.told_start = {0};
      thread.told_end = {10 * kMs};
      profile.threads.push_back(thread);
    }
  }

  void turn(uint32_t track, uint64_t begin_us, uint64_t end_us, uint16_t processor = 0) {
    RunEvent in;
    in.time_ns = begin_us * kUs;
    in.track = {track};
    in.running = RunEvent::kWhole;
    in.processor = processor;
    RunEvent out;
    out.time_ns = end_us * kUs;
    out.track = {track};
    profile.run_states.events.insert(profile.run_states.events.end(), {in, out});
  }

  /// Ten turns, from 10 to 100 us of each millisecond.
  void ten_turns(uint64_t charged_us) {
    for (uint64_t ms = 0; ms < 10; ++ms) turn(0, ms * 1000 + 10, ms * 1000 + 100);
    profile.threads[0].end_cpu = {charged_us * kUs};
  }

  /// Times of all events in us, once turns begin when they were charged.
  std::vector<uint64_t> times() {
    begin_turns_when_charged(profile);
    std::vector<uint64_t> times;
    for (const RunEvent& event : profile.run_states.events) times.push_back(event.time_ns / kUs);
    return times;
  }
};

}  // namespace

Test(switch_costs, a_turn_begins_as_much_before_its_record_as_its_thread_is_charged) {
  Charged world(1);
  world.ten_turns(1000);
  const std::vector<uint64_t> times = world.times();
  for (uint64_t ms = 0; ms < 10; ++ms) {
    cr_expect_eq(times[2 * ms], ms * 1000);
    cr_expect_eq(times[2 * ms + 1], ms * 1000 + 100);
  }
}

Test(switch_costs, who_is_charged_less_than_its_turns_keeps_them) {
  Charged world(1);
  world.ten_turns(800);
  cr_expect_eq(world.times()[0], 10);
}

Test(switch_costs, only_turns_between_two_looks_at_the_clock_are_known) {
  Charged world(1);
  world.ten_turns(500);
  world.profile.threads[0].told_start = {5 * kMs};
  const std::vector<uint64_t> times = world.times();
  for (uint64_t ms = 0; ms < 10; ++ms) cr_expect_eq(times[2 * ms], ms * 1000 + (ms < 5 ? 10 : 0), "%lu", ms);
}

Test(switch_costs, no_two_threads_have_one_processor) {
  Charged world(2);
  for (uint64_t us = 10; us < 1000; us += 20) world.turn(0, us, us + 8), world.turn(1, us + 10, us + 18);
  for (Thread& thread : world.profile.threads) thread.end_cpu = {50 * 11 * kUs};
  const std::vector<uint64_t> times = world.times();
  // 3 us each time, of which the other had the processor for one.
  for (size_t i = 2; i < times.size(); i += 2) cr_expect_eq(times[i], times[i - 1]);
  const std::vector<RunEvent>& events = world.profile.run_states.events;
  for (size_t i = 0; i < events.size(); ++i) cr_expect_eq(events[i].running != 0, i % 2 == 0);
}

Test(switch_costs, turns_with_room_make_up_for_those_without) {
  Charged world(2);
  world.turn(0, 0, 1), world.turn(0, 100, 200), world.turn(1, 200, 300), world.turn(1, 400, 500);
  world.profile.threads[1].end_cpu = {220 * kUs};
  cr_expect_eq(world.times(), (std::vector<uint64_t>{0, 1, 100, 200, 200, 300, 380, 500}));
}

Test(switch_costs, another_processor_is_no_obstacle) {
  Charged world(2);
  world.turn(0, 10, 100, 0), world.turn(1, 102, 200, 1);
  world.profile.threads[1].end_cpu = {108 * kUs};
  cr_expect_eq(world.times(), (std::vector<uint64_t>{10, 92, 100, 200}));
  cr_expect_eq(world.profile.run_states.events[1].track.index(), 1, "events are in the order of time");
}

Test(switch_costs, what_no_switch_takes_is_none) {
  Charged world(1);
  world.turn(0, 5000, 6000);
  world.profile.threads[0].end_cpu = {4000 * kUs};
  cr_expect_eq(world.times()[0], 4950);
}

Test(switch_costs, nothing_is_known_of_sweeps_and_of_what_was_lost) {
  Charged swept(1), lost(1), killed(1);
  for (Charged* world : {&swept, &lost, &killed}) world->ten_turns(1000);
  swept.profile.run_states.source = RunStates::Source::kSweeps;
  lost.profile.run_states.lost = 1;
  killed.profile.threads[0].end_estimated = true;
  for (Charged* world : {&swept, &lost, &killed}) cr_expect_eq(world->times()[0], 10);
}
