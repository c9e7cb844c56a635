// SPDX-License-Identifier: MIT
// Samples are of the moment of the scheduler's tick at which their timers expired. Context: tests.
#include <criterion/criterion.h>

#include <string>
#include <vector>

#include "common/session_keys.h"
#include "test/unit/time_units.h"
#include "viewer/load/tick_moments.h"

using namespace varve;
using namespace varve::load;

namespace {

/// A thread on a machine that ticks every 4 ms, with turns from `begins_us` on that last until the next one.
struct Ticking {
  Profile profile;

  explicit Ticking(const std::vector<uint64_t>& begins_us) {
    profile.session.texts = {{std::string(session_key::kKernelTickNs), "4000000"}};
    profile.threads.resize(1);
    profile.threads[0].track = {0};
    profile.run_states.source = RunStates::Source::kSwitches;
    profile.run_states.tracks.resize(1);
    for (const uint64_t us : begins_us)
      for (const bool runs : {false, true}) {
        RunEvent event;
        event.time_ns = us * kUs;
        event.track = {0};
        event.running = runs ? RunEvent::kWhole : uint16_t(0);
        profile.run_states.events.push_back(event);
      }
  }

  void sample(uint64_t us, bool is_tick = true) {
    Samples& samples = profile.samples;
    samples.time_ns.push_back(us * kUs);
    samples.weight_ns.push_back(1);
    samples.thread.push_back({0});
    samples.path.push_back({0});
    samples.ticks.push_back(is_tick);
    profile.sample_count += is_tick;
  }

  std::vector<uint64_t> dated() {
    date_samples_by_ticks(profile);
    std::vector<uint64_t> times;
    for (const uint64_t time_ns : profile.samples.time_ns) times.push_back(time_ns / kUs);
    return times;
  }
};

}  // namespace

Test(tick_moments, a_sample_soon_after_a_tick_is_of_the_tick) {
  Ticking world({0});
  for (const uint64_t us : {4000, 8030, 12100, 16101, 23999}) world.sample(us);
  cr_expect_eq(world.dated(), (std::vector<uint64_t>{4000, 8000, 12000, 16101, 23999}));
}

Test(tick_moments, who_came_after_the_tick_was_not_met_by_it) {
  Ticking world({0, 4010, 7990, 12000});
  for (const uint64_t us : {4030, 8030, 12030}) world.sample(us);
  cr_expect_eq(world.dated(), (std::vector<uint64_t>{4030, 8000, 12000}));
}

Test(tick_moments, samples_stay_in_their_order) {
  Ticking world({0});
  for (const uint64_t us : {4010, 4030, 4060}) world.sample(us);
  cr_expect_eq(world.dated(), (std::vector<uint64_t>{4000, 4000, 4000}));
  Ticking later({0});
  later.sample(3999), later.sample(4001, false), later.sample(4050);
  cr_expect_eq(later.dated(), (std::vector<uint64_t>{3999, 4001, 4050}), "time without a tick was then");
}

Test(tick_moments, ticks_at_any_moment_are_of_events) {
  Ticking world({0});
  for (uint64_t us = 50; us < 400'000; us += 990) world.sample(us);
  std::vector<uint64_t> before = world.profile.samples.time_ns;
  for (uint64_t& time_ns : before) time_ns /= kUs;
  cr_expect_eq(world.dated(), before);
}

Test(tick_moments, nothing_is_known_where_turns_are_not) {
  Ticking world({0});
  world.sample(4030);
  world.profile.run_states.source = RunStates::Source::kSweeps;
  cr_expect_eq(world.dated()[0], 4030);
  Ticking old({0});
  old.sample(4030);
  old.profile.session.texts.clear();
  cr_expect_eq(old.dated()[0], 4030);
}
