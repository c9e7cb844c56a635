// SPDX-License-Identifier: MIT
// Levels, bands, states of threads and the timeline against naive ones that look up every thread's state in
// every stretch of time between two events. Context: tests.
#include <criterion/criterion.h>
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "test/unit/random_profile.h"
#include "viewer/analyze/concurrency.h"
#include "viewer/analyze/thread_states.h"
#include "viewer/analyze/timeline.h"

using namespace varve;
using namespace varve::analyze;
using load::RunEvent;
using load::RunStates;
using varve::test::RandomProfile;

namespace {

constexpr uint64_t kStateSeeds = 12;
constexpr double kWhole = RunEvent::kWhole;

RandomProfile with_states(uint64_t seed, RunStates::Source source) {
  RandomProfile made = test::random_profile(2 * seed);
  test::add_run_states(made.profile, seed, source);
  return made;
}

template <typename Check>
void both_sources(Check check) {
  for (uint64_t seed = 0; seed < kStateSeeds; ++seed)
    for (auto source : {RunStates::Source::kSwitches, RunStates::Source::kSweeps})
      check(with_states(seed, source));
}

/// The state of a track from `time` on: the last of its events until then; null: none yet, or ended.
const RunEvent* state_at(const RunStates& states, uint32_t track, uint64_t time) {
  const RunEvent* found = nullptr;
  for (const RunEvent& event : states.events)
    if (event.track.value == track && event.time_ns <= time) found = &event;
  return found == nullptr || found->ended ? nullptr : found;
}

/// Calls use(begin, end) for all stretches of time in which no state changes.
template <typename Use>
void each_moment(const RunStates& states, TimeRange range, const std::set<uint64_t>& cuts, Use use) {
  range = range.within({states.begin.count, states.end.count});
  std::set<uint64_t> times = cuts;
  times.insert({range.begin, range.end});
  for (const RunEvent& event : states.events) times.insert(event.time_ns);
  for (auto at = times.begin(); std::next(at) != times.end(); ++at)
    if (*at >= range.begin && *std::next(at) <= range.end) use(*at, *std::next(at));
}

double level_at(const RunStates& states, uint64_t time, bool active, const PassTrack& pass) {
  double level = 0;
  for (uint32_t i = 0; i < states.tracks.size(); ++i)
    if (const RunEvent* state = state_at(states, i, time); state != nullptr && pass({i}))
      level += (active ? state->active() : state->running) / kWhole;
  return level;
}

bool all(TrackId) { return true; }
bool odd(TrackId track) { return track.value % 2 == 1; }

TimeRange middle(const RunStates& states) {
  return {states.begin.count + 123'456'789, states.end.count - 98'765'432};
}

uint64_t sum(const std::vector<uint64_t>& numbers) {
  uint64_t total = 0;
  for (const uint64_t each : numbers) total += each;
  return total;
}

}  // namespace

Test(states, time_by_level_is_that_of_every_moment) {
  both_sources([](const RandomProfile& made) {
    const RunStates& states = made.profile.run_states;
    for (const PassTrack& pass : {PassTrack(all), PassTrack(odd)}) {
      for (const TimeRange range : {TimeRange(), middle(states)}) {
        const Levels levels(states, range, pass);
        for (const bool active : {true, false}) {
          std::vector<double> wanted(20);
          size_t moments = 0;
          each_moment(states, range, {}, [&](uint64_t begin, uint64_t end) {
            const double level = level_at(states, begin, active, pass) + 1e-9,
                         part = level - std::floor(level);
            wanted[size_t(level)] += double(end - begin) * (1 - part);
            wanted[size_t(level) + 1] += double(end - begin) * part;
            ++moments;
          });
          const auto got = time_by_level(levels, active ? &Level::active : &Level::running);
          cr_expect_eq(sum(got), levels.range().length());
          for (size_t i = 0; i < wanted.size(); ++i)
            cr_expect_float_eq(double(i < got.size() ? got[i] : 0), wanted[i], double(moments) + 10,
                               "level %zu", i);
        }
      }
    }
  });
}

Test(states, groups_have_the_levels_of_their_threads) {
  both_sources([](const RandomProfile& made) {
    const RunStates& states = made.profile.run_states;
    std::vector<uint32_t> group_of(states.tracks.size());
    for (uint32_t i = 0; i < group_of.size(); ++i) group_of[i] = i % 3 == 2 ? kNoGroup : i % 3;
    const TimeRange ranges[] = {{states.begin.count, states.end.count}, middle(states)};
    const auto got = running_time_by_group(states, ranges, group_of);
    for (uint32_t group = 0; group < 2; ++group) {
      const auto wanted = time_by_level(
          Levels(states, ranges[group], [&](TrackId track) { return track.value % 3 == group; }),
          &Level::running);
      cr_assert_eq(got[group].size(), wanted.size());
      cr_expect_eq(sum(got[group]), ranges[group].length());
      for (size_t i = 0; i < wanted.size(); ++i)
        cr_expect_float_eq(double(got[group][i]), double(wanted[i]), double(states.events.size()));
    }
  });
}

Test(states, pairs_are_those_of_every_moment) {
  both_sources([](const RandomProfile& made) {
    const RunStates& states = made.profile.run_states;
    double within = 0, between = 0;
    each_moment(states, middle(states), {}, [&](uint64_t begin, uint64_t end) {
      for (uint32_t i = 0; i < states.tracks.size(); ++i) {
        for (uint32_t j = 0; j < i; ++j) {
          const RunEvent *one = state_at(states, i, begin), *other = state_at(states, j, begin);
          if (one == nullptr || other == nullptr) continue;
          const double pairs = one->running / kWhole * other->running / kWhole * double(end - begin);
          (states.tracks[i].pid == states.tracks[j].pid ? within : between) += pairs;
        }
      }
    });
    const PairShares got = pair_shares(states, middle(states), all);
    if (within + between < 1) return;
    cr_expect_float_eq(got.within_process, within / (within + between), 1e-6);
    cr_expect_float_eq(got.within_process + got.between_processes, 1, 1e-9);
  });
}

Test(states, a_sample_has_the_band_of_its_moment) {
  both_sources([](const RandomProfile& made) {
    const load::Profile& profile = made.profile;
    for (const Scale scale : {Scale::kConcurrency, Scale::kUtilization}) {
      for (const double target : {1.0, 1.5, 2.0, 4.0}) {
        const BandRule rule{scale, target, {40, 90, 130}};
        const Levels levels(profile.run_states, {}, all);
        const std::vector<Band> got = band_of_samples(profile, levels, rule);
        size_t seen[kBands + 1] = {};
        for (size_t i = 0; i < got.size(); ++i) {
          ++seen[size_t(got[i])];
          if (!profile.samples.thread[i].valid() || has_no_moment(profile, profile.samples.path[i])) {
            cr_expect_eq(int(got[i]), int(Band::kUnknown));
            continue;
          }
          const uint64_t first = levels.range().begin, last = levels.range().end - 1;
          const uint64_t time = std::clamp(profile.samples.time_ns[i], first, last);
          const double level =
              std::round(level_at(profile.run_states, time, scale == Scale::kConcurrency, all) + 1e-9);
          cr_expect_eq(int(got[i]), int(rule.of(std::max(1.0, level))), "sample %zu", i);
        }
        cr_expect_eq(seen[size_t(Band::kIdle)], 0);
        if (scale == Scale::kUtilization) cr_expect_eq(seen[size_t(Band::kOver)], 0);
      }
    }
  });
}

/// As a run without its paused stretches.
Test(states, what_was_paused_is_in_no_level) {
  both_sources([](const RandomProfile& made) {
    const RunStates& states = made.profile.run_states;
    const uint64_t begin = states.begin.count, length = states.end.count - begin;
    const auto at = [&](uint64_t percent) { return Nanos{begin + length / 100 * percent}; };
    const std::vector<load::Pause> pauses = {{ProcessId::none(), {0}, at(20)},
                                             {{0}, at(30), at(40)},  // of one process: the others went on
                                             {ProcessId::none(), at(50), at(55)},
                                             {ProcessId::none(), at(90), at(200)}};
    const CountedTime counted(pauses);
    const TimeRange parts[] = {{at(20).count, at(50).count}, {at(55).count, at(90).count}};
    const Levels levels(states, {}, all, counted);
    cr_expect_eq(levels.elapsed(), parts[0].length() + parts[1].length());
    std::vector<uint64_t> wanted(states.tracks.size() + 2);
    for (const TimeRange part : parts) {
      const auto time = time_by_level(Levels(states, part, all), &Level::active);
      for (size_t i = 0; i < time.size(); ++i) wanted[i] += time[i];
    }
    auto got = time_by_level(levels, &Level::active);
    got.resize(wanted.size());
    // A stretch that a pause cuts in two is rounded once more.
    for (size_t i = 0; i < wanted.size(); ++i) cr_expect_float_eq(double(got[i]), double(wanted[i]), 100);
    cr_expect_eq(sum(got), levels.elapsed());
    const std::vector<uint32_t> group_of(states.tracks.size(), 0);
    const TimeRange whole[] = {levels.range()};
    cr_expect_eq(sum(running_time_by_group(states, whole, group_of, counted)[0]), levels.elapsed());
    cr_expect_eq(counted.in({at(60).count, at(58).count}), 0);
  });
}

Test(states, running_and_ready_and_waiting_are_the_time_observed) {
  both_sources([](const RandomProfile& made) {
    const RunStates& states = made.profile.run_states;
    for (const TimeRange asked : {TimeRange(), middle(states)}) {
      const TimeRange range = asked.within({states.begin.count, states.end.count});
      const std::vector<ThreadStates> got = thread_states(made.profile, asked);
      std::vector<std::array<double, 2>> wanted(got.size());
      std::vector<uint64_t> lived(got.size());
      each_moment(states, range, {}, [&](uint64_t begin, uint64_t end) {
        for (uint32_t i = 0; i < states.tracks.size(); ++i) {
          const RunEvent* state = state_at(states, i, begin);
          if (state == nullptr) continue;
          lived[i] += end - begin;
          wanted[i][0] += double(end - begin) * state->running / kWhole;
          wanted[i][1] += double(end - begin) * state->ready / kWhole;
        }
      });
      for (uint32_t i = 0; i < got.size(); ++i) {
        cr_assert_eq(made.profile.threads[i].track.value, i);
        cr_expect(got[i].known);
        cr_expect_eq(got[i].running_ns + got[i].ready_ns + got[i].waiting_ns(), lived[i]);
        cr_expect_float_eq(double(got[i].running_ns), wanted[i][0], double(states.events.size()));
        cr_expect_float_eq(double(got[i].ready_ns), wanted[i][1], double(states.events.size()));
        cr_expect_leq(got[i].same_processor, got[i].compared);
        cr_expect_leq(got[i].compared, got[i].quanta);
      }
    }
  });
}

/// A profile whose threads lived as long as the run, with all samples in it; `clocked` gets their CPU times.
static RandomProfile whole_lives(RunStates::Source source, std::vector<uint64_t>& clocked) {
  RandomProfile made = with_states(1, source);
  load::Profile& profile = made.profile;
  const RunStates& states = profile.run_states;
  for (load::Thread& thread : profile.threads) {
    thread.seen_only = false;
    thread.end_cpu = {1};
    thread.start_time = states.begin;
    thread.end_time = states.end;
  }
  clocked.resize(profile.threads.size());
  for (size_t i = 0; i < profile.samples.size(); ++i) {
    profile.samples.time_ns[i] = states.begin.count + i;
    if (profile.samples.thread[i].valid())
      clocked[profile.samples.thread[i].index()] += profile.samples.weight_ns[i];
  }
  return made;
}

/// Wait is what is left of the lifetime; of each kind in proportion, and never negative.
Test(states, settled_by_the_clocks_the_parts_are_the_lifetime) {
  std::vector<uint64_t> clocked;
  const RandomProfile made = whole_lives(RunStates::Source::kSweeps, clocked);
  const uint64_t life = made.profile.run_states.end.count - made.profile.run_states.begin.count;
  const auto seen = thread_states(made.profile, {}), settled = settled_states(made.profile, {});
  for (size_t i = 0; i < settled.size(); ++i) {
    cr_expect_eq(settled[i].running_ns, std::min(clocked[i], life));
    cr_expect_leq(settled[i].ready_ns, seen[i].ready_ns);
    cr_expect_eq(settled[i].running_ns + settled[i].ready_ns + settled[i].waiting_ns(), life);
  }
}

/// With switches what the clock has more comes from the waits, what it has less was ready.
Test(states, settled_switches_keep_their_sum_and_have_the_clocks_time) {
  std::vector<uint64_t> clocked;
  const RandomProfile made = whole_lives(RunStates::Source::kSwitches, clocked);
  const auto seen = thread_states(made.profile, {}), settled = settled_states(made.profile, {});
  size_t more = 0, less = 0;
  for (size_t i = 0; i < settled.size(); ++i) {
    const uint64_t sum = seen[i].running_ns + seen[i].ready_ns + seen[i].waiting_ns();
    cr_expect_eq(settled[i].running_ns, std::min(clocked[i], sum));
    cr_expect_eq(settled[i].running_ns + settled[i].ready_ns + settled[i].waiting_ns(), sum);
    cr_expect_leq(settled[i].waiting_ns(), seen[i].waiting_ns());
    more += clocked[i] > seen[i].running_ns;
    less += clocked[i] < seen[i].running_ns;
  }
  cr_expect_gt(more + less, 0);
}

Test(states, a_letter_of_the_timeline_is_what_took_most_of_its_time) {
  both_sources([](const RandomProfile& made) {
    const RunStates& states = made.profile.run_states;
    const Levels levels(states, middle(states), all);
    std::vector<ThreadId> threads;
    for (uint32_t i = 0; i < made.profile.threads.size(); ++i) threads.push_back({i});
    const Timeline line = timeline(made.profile, levels, levels.range(), 37, threads);
    cr_assert_eq(line.slices, 37);
    std::set<uint64_t> cuts;
    for (size_t i = 0; i <= line.slices; ++i) cuts.insert(line.begin_of(i));
    std::vector<std::array<double, 2 + size_t(WaitKind::kCount)>> parts(threads.size() * line.slices);
    std::vector<double> running(line.slices);
    each_moment(states, middle(states), cuts, [&](uint64_t begin, uint64_t end) {
      size_t slice = 0;
      while (line.begin_of(slice + 1) <= begin) ++slice;
      const double length = double(end - begin);
      running[slice] += level_at(states, begin, false, all) * length /
                        double(line.begin_of(slice + 1) - line.begin_of(slice));
      for (uint32_t i = 0; i < threads.size(); ++i) {
        const RunEvent* state = state_at(states, i, begin);
        if (state == nullptr) continue;
        auto& sums = parts[i * line.slices + slice];
        sums[0] += length * state->running / kWhole;
        sums[1] += length * state->ready / kWhole;
        sums[2 + size_t(state->wait)] += length * (1 - state->active() / kWhole);
      }
    });
    for (size_t i = 0; i < line.slices; ++i) cr_expect_float_eq(line.running[i], running[i], 1e-6);
    for (size_t i = 0; i < parts.size(); ++i) {
      const SliceState got = line.states[i];
      const double most = *std::ranges::max_element(parts[i]);
      if (got.state == RunState::kExited) {
        cr_expect_lt(most, 1);
        continue;
      }
      const size_t part = got.state == RunState::kRunning ? 0
                          : got.state == RunState::kReady ? 1
                                                          : 2 + size_t(got.wait);
      cr_expect_geq(parts[i][part] + 100, most);
    }
  });
}

Test(states, slices_shorter_than_a_nanosecond) {
  const RandomProfile made = with_states(3, RunStates::Source::kSwitches);
  const uint64_t begin = made.profile.run_states.begin.count + 500'000'000;
  const Levels levels(made.profile.run_states, {begin, begin + 10}, all);
  const Timeline line = timeline(made.profile, levels, levels.range(), 80, {{0}});
  cr_expect_eq(line.states.size(), 80);
  cr_expect_eq(line.begin_of(80), begin + 10);
  const Timeline none = timeline(made.profile, levels, {begin + 20, begin + 20}, 80, {{0}});
  cr_expect_eq(none.slices, 0);
}

// --- bands and classes

/// Of a recorder that was killed: the thread ran on, which nobody observed, and that is not taken from its
/// waits.
Test(states, what_ran_after_the_observer_ended_is_not_settled) {
  load::Profile profile;
  profile.threads.resize(1);
  profile.threads[0].process = {0};
  profile.threads[0].track = {0};
  profile.threads[0].end_cpu = {1'000'000'000};
  profile.threads[0].end_time = {1'300'000'000};
  profile.run_states.source = RunStates::Source::kSwitches;
  profile.run_states.tracks.resize(1);
  profile.run_states.end = {300'000'000};
  for (const bool running : {true, false}) {
    RunEvent event;
    event.time_ns = running ? 0 : 100'000'000;
    event.track = {0};
    event.running = running ? RunEvent::kWhole : 0;
    profile.run_states.events.push_back(event);
  }
  for (const uint64_t time : {100'000'000, 310'000'000, 1'300'000'000}) {
    profile.samples.time_ns.push_back(time);
    profile.samples.weight_ns.push_back(100'000'000);
    profile.samples.thread.push_back({0});
    profile.samples.path.push_back({0});
    profile.samples.ticks.push_back(1);
  }
  const auto settled = settled_states(profile, {0, 300'000'000});
  cr_expect_eq(settled[0].running_ns, 100'000'000);
  cr_expect_eq(settled[0].waiting_ns(), 200'000'000);
}
