// SPDX-License-Identifier: MIT
// See concurrency.h.
// Context: viewer.
#include "viewer/analyze/concurrency.h"

namespace varve::analyze {
namespace {

uint64_t saturating_add(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

/// Which tracks belong to processes that pass.
std::vector<bool> tracks_that_pass(const load::Profile& profile, const Filter& filter) {
  std::vector<bool> pass(profile.run_states.tracks.size(), !filter.process.given());
  if (!filter.process.given()) return pass;
  for (const load::Thread& thread : profile.threads)
    if (thread.track.valid() && process_passes(profile, thread.process, filter))
      pass[thread.track.index()] = true;
  return pass;
}

/// By thread; those of processes that do not pass.
std::vector<bool> threads_of_others(const load::Profile& profile, const Filter& filter) {
  std::vector<bool> others(profile.threads.size());
  if (!filter.process.given()) return others;
  for (size_t i = 0; i < others.size(); ++i)
    others[i] = !process_passes(profile, profile.threads[i].process, filter);
  return others;
}

Levels levels_of_run(const load::Profile& profile, const PassTrack& pass) {
  return {profile.run_states, time_range(profile, {}), pass, CountedTime(profile.pauses)};
}

void add_bands(const load::Profile& profile, const Filter& filter, Concurrency& result) {
  const Levels run = filter.timed() ? levels_of_run(profile, result.passes()) : result.levels;
  result.banded = run.known();
  if (!result.banded) return;
  result.of_sample = band_of_samples(profile, run, result.rule);
  if (!filter.process.given()) return;
  const std::vector<bool> others = threads_of_others(profile, filter);
  const std::vector<Band> of_all =
      band_of_samples(profile, levels_of_run(profile, [](TrackId) { return true; }), result.rule);
  for (size_t i = 0; i < of_all.size(); ++i)
    if (const ThreadId thread = profile.samples.thread[i]; thread.valid() && others[thread.index()])
      result.of_sample[i] = of_all[i];
}

}  // namespace

TimeRange time_range(const load::Profile& profile, const Filter& filter) {
  const load::Session& session = profile.session;
  uint64_t start = session.start_time.count;
  TimeRange run{start, session.elapsed.count ? saturating_add(start, session.elapsed.count) : UINT64_MAX};
  return run.within({saturating_add(start, filter.from.count), saturating_add(start, filter.to.count)});
}

Concurrency concurrency(const load::Profile& profile, const Filter& filter, const BandOptions& options) {
  Concurrency result;
  result.machine = machine_of(profile.session);
  result.rule = {options.scale, options.target.value_or(default_target(result.machine, options.scale)),
                 options.thresholds};
  if (!profile.run_states.known()) return result;
  result.tracks = tracks_that_pass(profile, filter);
  result.levels =
      Levels(profile.run_states, time_range(profile, filter), result.passes(), CountedTime(profile.pauses));
  add_bands(profile, filter, result);
  return result;
}

}  // namespace varve::analyze
