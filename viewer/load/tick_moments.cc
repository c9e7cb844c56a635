// SPDX-License-Identifier: MIT
// See tick_moments.h.
// Context: viewer.
#include "viewer/load/tick_moments.h"

#include <algorithm>

#include "common/session_keys.h"
#include "viewer/load/row_groups.h"

namespace varve::load {
namespace {

/// From a tick to the sample of who returns to the program at once, or at the end of a short system call:
/// more than nine of ten such samples of a virtual machine.
constexpr uint64_t kMostLateNs = 100'000;
/// Of samples at random moments one in forty comes so soon after a tick of 4 ms. Where no more than a tenth
/// do, ticks are of events, or of a kernel whose ticks are at other moments.
constexpr size_t kLeastOneIn = 10;

/// When the turns of each track began.
class TurnBegins {
 public:
  explicit TurnBegins(const RunStates& states)
      : events_(states.events), rows_(states.tracks.size(), states.events.size(), [&](size_t row) {
          return states.events[row].running != 0 ? states.events[row].track.index() : SIZE_MAX;
        }) {}

  /// Whether no turn of the track begins within (begin_ns, end_ns].
  bool none_between(TrackId track, uint64_t begin_ns, uint64_t end_ns) const {
    const auto time_of = [this](uint32_t row) { return events_[row].time_ns; };
    const auto rows = rows_.of(track.index());
    const auto next = std::ranges::upper_bound(rows, begin_ns, {}, time_of);
    return next == rows.end() || time_of(*next) > end_ns;
  }

 private:
  const std::vector<RunEvent>& events_;
  const RowGroups rows_;
};

size_t count_late(const Samples& samples, uint64_t tick_ns) {
  size_t count = 0;
  for (size_t i = 0; i < samples.size(); ++i)
    count += samples.ticks[i] != 0 && samples.time_ns[i] % tick_ns <= kMostLateNs;
  return count;
}

}  // namespace

void date_samples_by_ticks(Profile& profile) {
  const uint64_t tick_ns = profile.session.number(session_key::kKernelTickNs);
  if (profile.run_states.source != RunStates::Source::kSwitches || tick_ns == 0) return;
  Samples& samples = profile.samples;
  if (count_late(samples, tick_ns) * kLeastOneIn < profile.sample_count) return;
  const TurnBegins turns(profile.run_states);
  for (size_t i = 0; i < samples.size(); ++i) {
    const uint64_t late_ns = samples.time_ns[i] % tick_ns, moment_ns = samples.time_ns[i] - late_ns;
    const ThreadId thread = samples.thread[i];
    if (samples.ticks[i] == 0 || late_ns == 0 || late_ns > kMostLateNs || !thread.valid()) continue;
    const TrackId track = profile.threads[thread.index()].track;
    const bool in_order = i == 0 || samples.thread[i - 1] != thread || samples.time_ns[i - 1] <= moment_ns;
    if (track.valid() && in_order && turns.none_between(track, moment_ns, samples.time_ns[i]))
      samples.time_ns[i] = moment_ns;
  }
}

}  // namespace varve::load
