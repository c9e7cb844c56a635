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
  std::vector<ThreadFacts> facts;

  explicit Charged(uint32_t threads) {
    RunStates& states = profile.run_states;
    states.source = RunStates::Source::kSwitches;
    states.end = {10 * kMs};
    states.tracks.resize(threads);
    facts.resize(threads);
    profile.processes.resize(1);
    for (uint32_t i = 0; i < threads; ++i) {
      Thread thread;
      thread.process = {0};
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

  /// The first thread's, after its sample at 5 ms: so much is in samples, and so much did its clock say.
  void last_tick(uint64_t sampled_us, uint64_t cpu_us) {
    profile.threads[0].sampled = {sampled_us * kUs};
    profile.threads[0].last_cpu = {cpu_us * kUs};
    facts[0].last_sample = {5 * kMs};
  }

  /// Times of all events in us, once turns begin when they were charged.
  std::vector<uint64_t> times() {
    begin_turns_when_charged(profile, facts);
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

Test(switch_costs, no_turn_makes_up_for_a_hundred) {
  Charged world(2);
  for (uint64_t us = 0; us < 5000; us += 50) world.turn(1, us, us + 20), world.turn(0, us + 20, us + 40);
  world.turn(0, 6000, 6020);
  world.profile.threads[0].end_cpu = {101 * 21 * kUs};
  const std::vector<uint64_t> times = world.times();
  cr_expect_eq(times[times.size() - 2], 5996);
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

Test(switch_costs, a_clock_that_began_with_its_track_is_known_from_there) {
  Charged world(1);
  world.ten_turns(1000);
  world.profile.run_states.tracks[0].start_seen = true;
  world.profile.run_states.tracks[0].start = {1};
  world.profile.threads[0].told_start = {5500 * kUs};
  world.profile.threads[0].start_cpu = {600 * kUs};
  cr_expect_eq(world.times()[0], 0);
}

Test(switch_costs, an_image_goes_on_where_the_one_before_was_looked_at) {
  Charged world(1);
  world.ten_turns(500);
  world.profile.threads[0].told_end = {5 * kMs};
  Thread next = world.profile.threads[0];
  next.told_start = {7500 * kUs};  // the loader is done
  next.start_cpu = {790 * kUs};
  next.told_end = {10 * kMs};
  next.end_cpu = {(500 + 450) * kUs};
  world.profile.threads.push_back(next);
  world.facts.resize(2);
  // 50 us more than the turns of the first one have, and as much as those of the second.
  const std::vector<uint64_t> times = world.times();
  for (uint64_t ms = 0; ms < 10; ++ms) cr_expect_eq(times[2 * ms], ms * 1000 + 5);
}

Test(switch_costs, of_who_does_not_end_the_last_tick_is_known) {
  Charged world(1);
  world.ten_turns(0);
  world.last_tick(500, 500);
  const std::vector<uint64_t> times = world.times();
  for (uint64_t ms = 0; ms < 10; ++ms) cr_expect_eq(times[2 * ms], ms * 1000 + (ms < 5 ? 0 : 10), "%lu", ms);
}

/// Of 4050 us more than in turns that ended, 3990 are in the one that goes on.
Test(switch_costs, a_turn_that_goes_on_is_recorded_until_the_end) {
  Charged world(1);
  for (uint64_t ms = 0; ms < 6; ++ms) world.turn(0, ms * 1000 + 10, ms * 1000 + 100);
  world.profile.run_states.events.pop_back();
  world.last_tick(4500, 4500);
  world.facts[0].last_sample = {9 * kMs};
  const std::vector<uint64_t> times = world.times();
  for (uint64_t ms = 0; ms < 6; ++ms) cr_expect_eq(times[2 * ms], ms * 1000);
}

Test(switch_costs, a_tick_in_a_pause_came_nobody_knows_when) {
  Charged world(1);
  world.ten_turns(0);
  world.last_tick(450, 1000);
  cr_expect_eq(world.times()[0], 10);
}

Test(switch_costs, who_executes_under_another_id_brings_its_clock) {
  Charged world(1);
  world.ten_turns(200'000);
  world.profile.run_states.tracks[0].start_seen = true;
  world.profile.processes[0].image = 1;
  world.profile.threads[0].start_cpu = {199'000 * kUs};
  cr_expect_eq(world.times()[0], 0);
}

/// Two threads with a turn of 100 us each, the first from 100 us on, and what the kernel charged them.
std::vector<uint64_t> times_of_two(uint64_t second_us, uint64_t first_cpu_ns, uint64_t second_cpu_ns) {
  Charged world(2);
  world.turn(0, 100, 200), world.turn(1, second_us, second_us + 100, 1);
  world.profile.threads[0].end_cpu = {first_cpu_ns};
  world.profile.threads[1].end_cpu = {second_cpu_ns};
  return world.times();
}

Test(switch_costs, one_that_is_beyond_belief_is_no_measure_for_others) {
  cr_expect_eq(times_of_two(5000, 105 * kUs, 9 * kMs), (std::vector<uint64_t>{95, 200, 4950, 5100}));
}

Test(switch_costs, nothing_is_charged_to_what_the_observer_saw_for_what_came_later) {
  Charged world(1);
  world.ten_turns(1000);
  world.profile.run_states.end = {9 * kMs};
  cr_expect_eq(world.times()[0], 10);
}

Test(switch_costs, threads_of_few_turns_have_an_average_together) {
  cr_expect_eq(times_of_two(300, 120 * kUs, 90 * kUs), (std::vector<uint64_t>{95, 200, 295, 400}));
}

Test(switch_costs, forged_threads_of_one_track_overlap_nowhere) {
  Charged world(1);
  world.ten_turns(1000);
  for (uint64_t i = 0; i < 10'000; ++i) world.profile.threads.push_back(world.profile.threads[0]);
  world.facts.resize(world.profile.threads.size());
  const std::vector<uint64_t> times = world.times();
  for (uint64_t ms = 0; ms < 10; ++ms) cr_expect_eq(times[2 * ms], ms * 1000);
}

/// A hundred turns of 90 us, one each 100 us, of which the clock has `cost_us` more each.
Charged hundred_turns(uint64_t cost_us, uint64_t lost) {
  Charged world(1);
  for (uint64_t turn = 0; turn < 100; ++turn) world.turn(0, turn * 100 + 9, turn * 100 + 99);
  world.profile.threads[0].end_cpu = {100 * (90 + cost_us) * kUs};
  world.profile.run_states.lost = lost;
  return world;
}

Test(switch_costs, more_than_one_lost_record_in_a_hundred_spoils_them) {
  for (const uint64_t lost : {0, 1, 2, 3}) {
    const std::vector<uint64_t> times = hundred_turns(4, lost).times();
    for (uint64_t turn = 0; turn < 100; ++turn)
      cr_expect_eq(times[2 * turn], turn * 100 + (lost <= 2 ? 5 : 9), "%lu of 200", lost);
  }
}

Test(switch_costs, what_lost_records_hide_is_no_switch) {
  cr_expect_eq(hundred_turns(8, 0).times()[0], 1);
  cr_expect_eq(hundred_turns(8, 1).times()[0], 9);
}

Test(switch_costs, a_lost_end_on_a_processor_is_one) {
  Charged world(2);
  world.turn(0, 10, 20, 0);
  world.turn(0, 30, 40, 0);
  world.profile.run_states.events.pop_back();  // its end, before it is on the other one
  world.turn(0, 50, 51, 1);
  world.turn(1, 52, 62, 0);
  world.profile.threads[1].end_cpu = {15 * kUs};
  cr_expect_eq(world.times(), (std::vector<uint64_t>{10, 20, 30, 50, 50, 51, 62}), "nothing at 47");
}

Test(switch_costs, nothing_is_known_of_sweeps_and_of_what_was_lost) {
  Charged swept(1), lost(1);
  for (Charged* world : {&swept, &lost}) world->ten_turns(1000);
  swept.profile.run_states.source = RunStates::Source::kSweeps;
  lost.profile.run_states.lost = 1;
  for (Charged* world : {&swept, &lost}) cr_expect_eq(world->times()[0], 10);
}
