// SPDX-License-Identifier: MIT
// See sweep_stretches.h.
// Context: viewer, one thread.
#include "viewer/load/sweep_stretches.h"

#include <algorithm>

namespace varve::load {
namespace {

using Told = SweepStretches::Told;

uint64_t end_of(const Told& told) { return told.begin_ns + told.length_ns; }

uint16_t share_of(uint64_t part_ns, uint64_t whole_ns) {
  if (part_ns >= whole_ns) return RunEvent::kWhole;
  return uint16_t(double(part_ns) / double(whole_ns) * RunEvent::kWhole + 0.5);
}

/// What did not fit into the stretches looked at so far, from the last one backwards.
struct Excess {
  uint64_t ran_ns = 0, ready_ns = 0;

  /// Adds it to the stretch as far as there is room, and keeps the rest.
  void put_into(Told& told) {
    told.ran_ns = take(told.ran_ns, ran_ns, told.length_ns);
    told.ready_ns = take(told.ready_ns, ready_ns, told.length_ns - told.ran_ns);
  }

 private:
  static uint64_t take(uint64_t told, uint64_t& excess, uint64_t room) {
    uint64_t sum = told + std::min(excess, UINT64_MAX - told);
    uint64_t taken = std::min(sum, room);
    excess = sum - taken;
    return taken;
  }
};

RunEvent event_of(const Told& told, TrackId track) {
  RunEvent event;
  event.time_ns = told.begin_ns;
  event.track = track;
  event.running = share_of(told.ran_ns, told.length_ns);
  event.ready = std::min(share_of(told.ready_ns, told.length_ns), uint16_t(RunEvent::kWhole - event.running));
  event.quanta = told.quanta;
  event.processor = told.processor;
  return event;
}

/// What a thread that was made within a stretch did, it did since its start.
void begin_at(std::vector<Told>& told, Nanos start) {
  for (Told& each : told) {
    if (each.begin_ns >= start.count || end_of(each) <= start.count) continue;
    each.length_ns = end_of(each) - start.count;
    each.begin_ns = start.count;
  }
}

}  // namespace

void SweepStretches::add(TrackId track, const Told& told) {
  if (track.index() >= by_track_.size()) by_track_.resize(track.index() + 1);
  auto& all = by_track_[track.index()];
  bool in_order = all.empty() || end_of(all.back()) <= told.begin_ns;
  if (in_order && told.length_ns) all.push_back(told);
}

void SweepStretches::append_track(const Track& track, TrackId id, std::vector<Told>& told,
                                  std::vector<RunEvent>& events) {
  begin_at(told, track.start);
  // From the last stretch backwards, the gaps between them included: there nothing was told, so far.
  std::vector<Told> filled;
  Excess excess;
  for (size_t i = told.size(); i-- > 0;) {
    excess.put_into(told[i]);
    filled.push_back(told[i]);
    uint64_t before = i ? end_of(told[i - 1]) : std::min(track.start.count, told[i].begin_ns);
    uint64_t wanted = std::min(excess.ran_ns, kLongestWaitNs) + std::min(excess.ready_ns, kLongestWaitNs);
    Told gap;
    gap.length_ns = std::min(wanted, told[i].begin_ns - before);
    gap.begin_ns = told[i].begin_ns - gap.length_ns;
    excess.put_into(gap);
    if (gap.length_ns) filled.push_back(gap);
  }
  for (size_t i = filled.size(); i-- > 0;) {
    events.push_back(event_of(filled[i], id));
    bool gap_follows = i == 0 || end_of(filled[i]) < filled[i - 1].begin_ns;
    if (!gap_follows) continue;
    RunEvent blocked;
    blocked.time_ns = end_of(filled[i]);
    blocked.track = id;
    events.push_back(blocked);
  }
}

void SweepStretches::append_events(const std::vector<Track>& tracks, std::vector<RunEvent>& events) {
  for (uint32_t i = 0; i < by_track_.size(); ++i) append_track(tracks[i], {i}, by_track_[i], events);
}

}  // namespace varve::load
