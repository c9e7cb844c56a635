// SPDX-License-Identifier: MIT
// See band_threads.h.
// Context: viewer.
#include "viewer/analyze/band_threads.h"

#include <algorithm>

#include "viewer/analyze/band_times.h"
#include "viewer/analyze/thread_states.h"
#include "viewer/analyze/track_threads.h"

namespace varve::analyze {
namespace {

/// From sweeps a stretch is a mean, so its parts are in all of its bands.
std::vector<ThreadBands> observed_bands(const load::Profile& profile, const Concurrency& concurrency) {
  const BandTimes times(concurrency.levels, concurrency.rule);
  const TrackThreads threads(profile);
  std::vector<ThreadBands> result(profile.threads.size());
  for_each_stretch(profile.run_states, [&](const load::RunEvent& event, TimeRange stretch) {
    if (!concurrency.tracks[event.track.index()]) return;
    for (const TrackThreads::Part& part : threads.of(event.track, stretch)) {
      const BandTimes::Times lengths =
          times.of(stretch.within(part.range).within(concurrency.levels.range()));
      for (size_t band = 0; band < kBands; ++band) {
        ThreadTime& time = result[part.thread.index()][band];
        const uint64_t running = part_of(lengths[band], event.running);
        const uint64_t ready = std::min(part_of(lengths[band], event.ready), lengths[band] - running);
        time.running_ns += running;
        time.ready_ns += ready;
        time.waiting_ns += lengths[band] - running - ready;
      }
    }
  });
  return result;
}

/// What the thread ran and no sample accounts for, as a share of what it ran. A percent is a difference of
/// clocks.
double unsampled_share(const ThreadStates& settled) {
  constexpr double kDifference = 0.01;
  if (settled.running_ns == 0) return 0;
  const double share = 1 - double(settled.clocked_ns) / double(settled.running_ns);
  return share > kDifference ? share : 0;
}

void run_instead_of_wait(ThreadTime& time, double ns) {
  const uint64_t more = std::min(uint64_t(ns), time.waiting_ns);
  time.running_ns += more;
  time.waiting_ns -= more;
}

/// The thread's own clock is the truth for CPU time. What a thread ran more than was observed is taken from
/// its waits, in the bands as it ran in them, and where it did not wait so long, in those where it did; what
/// it ran less it was ready.
void settle(ThreadBands& bands, double ratio) {
  double missing = 0, waiting = 0;
  for (ThreadTime& time : bands) {
    const double before = double(time.running_ns);
    if (ratio < 1) {
      time.running_ns = uint64_t(before * ratio);
      time.ready_ns += uint64_t(before) - time.running_ns;
      continue;
    }
    run_instead_of_wait(time, before * (ratio - 1));
    missing += before * ratio - double(time.running_ns);
    waiting += double(time.waiting_ns);
  }
  if (missing < 1 || waiting < 1) return;
  const double share = std::min(1.0, missing / waiting);
  for (ThreadTime& time : bands) run_instead_of_wait(time, double(time.waiting_ns) * share);
}

}  // namespace

std::vector<ThreadBands> thread_bands(const load::Profile& profile, const Concurrency& concurrency) {
  std::vector<ThreadBands> times = observed_bands(profile, concurrency);
  const TimeRange range = concurrency.levels.range();
  const std::vector<ThreadStates> observed = thread_states(profile, range),
                                  settled = settled_states(profile, range);
  for (size_t i = 0; i < times.size(); ++i) {
    if (settled[i].known && observed[i].running_ns != 0)
      settle(times[i], double(settled[i].running_ns) / double(observed[i].running_ns));
    for (ThreadTime& time : times[i])
      time.unsampled_ns =
          std::min(time.running_ns, uint64_t(double(time.running_ns) * unsampled_share(settled[i])));
  }
  return times;
}

}  // namespace varve::analyze
